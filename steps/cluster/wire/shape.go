package wire

import "google.golang.org/protobuf/encoding/protowire"

// Shape says which fields of a message are read. Other fields are passed over.
type Shape map[protowire.Number]Field

// Field is one field of a message: under which name it is kept, and what it is.
type Field struct {
	name string // "" for a message whose fields stand in the one around it
	form form
	of   Shape
}

type form int

const (
	text form = iota + 1
	truth
	moment
	message
	texts
	messages
	table
)

// Text is a string.
func Text(name string) Field { return Field{name: name, form: text} }

// Truth is a bool.
func Truth(name string) Field { return Field{name: name, form: truth} }

// Moment is a time, which JSON tells as text.
func Moment(name string) Field { return Field{name: name, form: moment} }

// Texts is a list of strings.
func Texts(name string) Field { return Field{name: name, form: texts} }

// Table is a mapping of strings to strings.
func Table(name string) Field { return Field{name: name, form: table} }

// Message is a mapping of its own.
func Message(name string, of Shape) Field { return Field{name: name, form: message, of: of} }

// Messages is a list of mappings.
func Messages(name string, of Shape) Field { return Field{name: name, form: messages, of: of} }

// Inline is a message that JSON does not show as one: its fields stand in the
// mapping around it.
func Inline(of Shape) Field { return Field{form: message, of: of} }
