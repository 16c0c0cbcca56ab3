// Package sheets has the form for each intent that needs words: the answer to a
// question, a waiver, a decision, a debt, the close.
//
// Each is one function from the incident to a [form.Form] whose Submit sends the
// intent. A sheet says what will be recorded and in whose name; whether the
// intent is allowed is for the incident to say.
package sheets
