// node-postgres. Modes: simple (text only), extended (unnamed statements), prepared (named statements).
import { readFileSync } from "node:fs";
import pg from "pg";

const [path, mode] = process.argv.slice(2);

function parseValue(word) {
  if (word.startsWith("i:")) return Number(word.slice(2));
  return word.startsWith("t:") ? word.slice(2) : null;
}

function literal(value) {
  return typeof value === "string" ? pg.escapeLiteral(value) : String(value ?? "NULL");
}

const names = new Map();

function asQuery(sql, parameters) {
  if (mode === "simple") {
    return { text: sql.replace(/\$(\d+)/g, (_, n) => literal(parameters[n - 1])), rowMode: "array" };
  }
  const query = { text: sql, values: parameters, rowMode: "array" };
  if (mode === "prepared") {
    if (!names.has(sql)) names.set(sql, `s${names.size}`);
    query.name = names.get(sql);
  }
  return query;
}

const errorFields = ["severity", "code", "message", "detail", "hint", "position", "where", "constraint"];

// It would check the certificate, which is not what this is about.
const ssl = process.env.PGSSLMODE === "require" && { rejectUnauthorized: false };
const client = new pg.Client({ host: process.env.PGHOST, ssl });
client.on("notice", (notice) => console.log("  notice", notice.severity, notice.message));
await client.connect();
for (const line of readFileSync(path, "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  const [operation, sql = "", ...words] = line.split(" | ");
  console.log(">", operation, sql);
  try {
    const result = await client.query(
      operation === "query" ? asQuery(sql, words.map(parseValue)) : operation.toUpperCase());
    console.log("  done", result.command, result.rowCount);
    console.log("  columns", JSON.stringify(result.fields.map((f) => [f.name, f.dataTypeID])));
    for (const row of result.rows) console.log("  row", JSON.stringify(row));
  } catch (error) {
    console.log("  error", JSON.stringify(errorFields.map((name) => [name, error[name]])));
  }
}
await client.end();
