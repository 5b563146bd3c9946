// Standard input: a JSON list of Kubernetes objects. Standard output: for each of them a list of what the
// published schema of its kind has against it. The schemas let unknown fields pass, as the API server does not
// when it is asked to be strict: so a field that no validator has looked at is an error too.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const operatorGroup = "monitoring.coreos.com/v1";

function watched(value, path, unseen) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((each, index) => watched(each, `${path}/${index}`, unseen));
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, watched(each, `${path}/${key}`, unseen)]),
  );
  for (const key of Object.keys(inner)) unseen.add(`${path}/${key}`);
  return new Proxy(inner, {
    get(target, key) {
      if (typeof key === "string") unseen.delete(`${path}/${key}`);
      return target[key];
    },
    ownKeys(target) {
      for (const key of Object.keys(target)) unseen.delete(`${path}/${key}`);
      return Reflect.ownKeys(target);
    },
  });
}

function faults(object) {
  const family = object.apiVersion === operatorGroup ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  const model = require(`${family}/${object.apiVersion}`)[object.kind];
  if (!model) return [`there is no kind ${object.kind} in ${object.apiVersion}`];
  const unseen = new Set();
  const fields = Object.entries(object).map(([key, each]) => [key, watched(each, `/${key}`, unseen)]);
  try {
    // Not through the constructor, which would make a copy that nobody watches.
    Object.assign(new model(), Object.fromEntries(fields)).validate();
  } catch (error) {
    return [error.message];
  }
  return [...unseen].map((path) => `${path} is no field of ${object.kind}`);
}

let text = "";
for await (const chunk of process.stdin) text += chunk;
console.log(JSON.stringify(JSON.parse(text).map(faults)));
