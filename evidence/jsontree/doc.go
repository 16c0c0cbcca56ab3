// Package jsontree reads JSON into a tree that keeps what came and writes it in one form. encoding/json loses the order of keys, merges
// those that are repeated and rounds numbers; evidence may do none of these.
//
// # Reading
//
// A Node has its text as it is meant (of a string, without escapes) or as it is written (a number, true, false, null), its members in
// the order they came, and where a scalar stood in the input. A repeated key is an error with StrictKeys and kept with LooseKeys. Values
// nested deeper than 256 are an error, and so is anything but blanks behind the value. Invalid UTF-8 and half a surrogate pair become
// U+FFFD.
//
// # The one form
//
// Written without an indent there is no blank. Numbers keep the form they were written in. In strings, quote and backslash are escaped
// with a backslash, newline, carriage return, tab, backspace and form feed as \n \r \t \b \f; other controls, DEL, C1 controls, U+2028,
// U+2029 and Unicode format characters (Cf) as \u and four lower-case hex digits (two such for a surrogate pair). Everything else stands
// for itself in UTF-8. So what is equal has equal bytes.
package jsontree
