import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** pgjdbc. The second argument is the tail of the URL, for example "preferQueryMode=simple". */
public class JdbcClient {
    private static final Pattern PLACEHOLDER = Pattern.compile("\\$(\\d+)");

    public static void main(String[] arguments) throws Exception {
        String url = String.format("jdbc:postgresql://%s:%s/%s?user=%s&ApplicationName=&sslmode=%s&%s",
            System.getenv("PGHOST"), System.getenv("PGPORT"), System.getenv("PGDATABASE"),
            System.getenv("PGUSER"), System.getenv().getOrDefault("PGSSLMODE", "disable"), arguments[1]);
        try (Connection connection = DriverManager.getConnection(url)) {
            for (String line : Files.readAllLines(Path.of(arguments[0]))) {
                if (!line.isEmpty() && !line.startsWith("#")) {
                    step(connection, line.split(" \\| ", -1));
                }
            }
            batches(connection);
            fetchInPortions(connection);
        }
    }

    private static void step(Connection connection, String[] words) throws SQLException {
        System.out.println("> " + String.join(" ", words));
        try {
            switch (words[0]) {
                case "begin":
                    connection.setAutoCommit(false);
                    break;
                case "commit":
                    connection.commit();
                    connection.setAutoCommit(true);
                    break;
                case "rollback":
                    connection.rollback();
                    connection.setAutoCommit(true);
                    break;
                default:
                    query(connection, words[1], Arrays.asList(words).subList(2, words.length));
            }
        } catch (SQLException error) {
            show(error);
        }
    }

    private static void query(Connection connection, String sql, List<String> values) throws SQLException {
        List<String> ordered = new ArrayList<>();
        Matcher matcher = PLACEHOLDER.matcher(sql);
        while (matcher.find()) {
            ordered.add(values.get(Integer.parseInt(matcher.group(1)) - 1));
        }
        try (PreparedStatement statement = connection.prepareStatement(matcher.replaceAll("?"))) {
            for (int i = 0; i < ordered.size(); i++) {
                set(statement, i + 1, ordered.get(i));
            }
            boolean hasRows = statement.execute();
            System.out.println("  done " + statement.getUpdateCount());
            if (hasRows) {
                show(statement.getResultSet());
            }
            for (SQLWarning w = statement.getWarnings(); w != null; w = w.getNextWarning()) {
                System.out.println("  notice " + w.getSQLState() + " " + w.getMessage());
            }
        }
    }

    private static void set(PreparedStatement statement, int index, String word) throws SQLException {
        if (word.startsWith("i:")) {
            statement.setInt(index, Integer.parseInt(word.substring(2)));
        } else {
            statement.setString(index, word.startsWith("t:") ? word.substring(2) : null);
        }
    }

    private static void show(ResultSet rows) throws SQLException {
        ResultSetMetaData columns = rows.getMetaData();
        StringBuilder header = new StringBuilder("  columns");
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            header.append(' ').append(columns.getColumnName(i));
            header.append(':').append(columns.getColumnTypeName(i));
        }
        System.out.println(header);
        while (rows.next()) {
            StringBuilder row = new StringBuilder("  row");
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                row.append(" [").append(rows.getString(i)).append(']');
            }
            System.out.println(row);
        }
    }

    private static void show(SQLException error) {
        ServerErrorMessage m = error instanceof PSQLException
            ? ((PSQLException) error).getServerErrorMessage() : null;
        System.out.println("  error " + error.getSQLState() + " " + error.getMessage().replace("\n", " / ")
            + (m == null ? "" : " position " + m.getPosition() + " constraint " + m.getConstraint()));
        if (error instanceof BatchUpdateException) {
            int[] counts = ((BatchUpdateException) error).getUpdateCounts();
            System.out.println("  counts " + Arrays.toString(counts));
        }
    }

    /** Batches of many executions in few round trips, whole and with a failing member. */
    private static void batches(Connection connection) throws SQLException {
        for (boolean autoCommit : new boolean[] {true, false}) {
            for (int bad : new int[] {-1, 60}) {
                System.out.println("> batch autocommit " + autoCommit + " bad " + bad);
                connection.setAutoCommit(autoCommit);
                try (PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO kudos_ledger (user_id, amount, note) VALUES (?, 1, 'batch')")) {
                    for (int i = 0; i < 100; i++) {
                        insert.setInt(1, i == bad ? 9999 : 7);
                        insert.addBatch();
                    }
                    System.out.println("  counts " + Arrays.toString(insert.executeBatch()));
                    if (!autoCommit) {
                        connection.commit();
                    }
                } catch (SQLException error) {
                    show(error);
                    if (!autoCommit) {
                        connection.rollback();
                    }
                }
                connection.setAutoCommit(true);
                query(connection, "SELECT count(*) FROM kudos_ledger WHERE note = 'batch'", List.of());
            }
        }
    }

    /** A portal that is executed several times: Bind happens once, the pin must hold to the last portion. */
    private static void fetchInPortions(Connection connection) throws SQLException {
        System.out.println("> portions");
        connection.setAutoCommit(false);
        try (Statement select = connection.createStatement()) {
            select.setFetchSize(7);
            show(select.executeQuery("SELECT event_id, note FROM kudos_ledger ORDER BY event_id LIMIT 30"));
        }
        connection.commit();
        connection.setAutoCommit(true);
    }
}
