// Package mariadb runs a real primary of MariaDB and a real replica of it for drills and tests, on 127.0.0.1 alone.
//
// [Start] gives a pair that ends with Close, and on Linux with the process that started it. [Plan] lays one out whose servers the
// caller runs ([Pair.Processes]) and which [At] finds again from another process; [Pair.Join] then starts the replication.
//
// [Pair.Break] changes the format in which the primary writes its binary log, and writes one row, so that the replica stops with an
// error of its own, in its log and in SHOW REPLICA STATUS. Two of the changes stop this replica:
//
//   - [ToStatement], error 1665: the primary went from MIXED to STATEMENT. The replica writes a log of its own as STATEMENT, and was
//     set to READ COMMITTED. It took the rows that MIXED makes of uuid(), and may not log the same as a statement.
//   - [ToRow], error 1677: the primary went from MIXED to ROW. A column of the replica was made another type than that of the primary. The
//     text of a statement fits it, a row of the other type does not.
//
// MySQL refuses rows on a replica that logs statements (1666). MariaDB 10.11 takes them and logs rows: a change from MIXED to ROW
// does no harm by itself. The package's test holds it to all three.
package mariadb
