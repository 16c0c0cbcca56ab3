// Package references searches what an operator names for the names of one server: working copies of repositories, zones of DNS,
// exports of secrets, dashboards and jobs, and states of Terraform. Each place is searched whole or its count is unknown, and nothing
// but the location of a match is kept: no line, no value.
//
// A match is a name in any case, in UTF-8 or UTF-16, or in Base64; inside of ZIP and gzip files as well. What a program composes of
// parts, and an address in place of a name, is not found.
package references
