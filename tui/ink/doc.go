// Package ink draws text: it knows colours, widths and lines, and nothing of
// incidents, keys or screens.
//
// Text has two types, so that mixing them up does not compile. A [Text] came
// from outside and was made harmless ([Shown], [Block], [Inline], [Say]); a
// [Drawn] is made of texts and our own styles and is the only thing that reaches
// the terminal. An [Ink] turns the one into the other.
//
// A [Theme] holds every ink by what it means. Meaning is never in the colour
// alone: a [Mark] is a symbol and a word, and the theme without colour shows the
// same words. Widths are cells of the terminal, never bytes or runes: a wide
// character that would be cut in two is left out whole. A [Page] collects the
// lines of a pane and wraps between words, so that an id or a path can be copied
// whole. What is drawn is cut to the width it was given; [Screenful] is the last
// to cut, so that nothing can push something else off the screen.
package ink
