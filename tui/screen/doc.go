// Package screen is what the program and its screens agree on.
//
// A [Screen] fills the terminal between the header and the keys. It owns what it
// shows. With each call it is given an [Env]: the keys, the inks, the size, the
// clock of the message in hand, and the incident that is open. It changes nothing
// there but what is meant for it: the notice, the sheet in front, and which
// screen is shown. It returns commands, which run beside the loop; a [Tasks] owns
// their goroutines.
//
// What a screen wants of another screen, or of the program, is a [Request] that
// it asks of the Env. The program obeys it at once, before the next key, so that
// no key can reach a screen that is about to be covered.
//
// [Config] is what the program that starts the face hands in. Everything in it
// may block, and is called as one of the tasks; the first frame waits for none of it.
package screen
