package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"handrail/tui/ink"
)

// CopyMost bounds what is handed to a clipboard: terminals drop what is longer.
const CopyMost = 64 << 10

// Copy hands a text to the clipboard of the terminal, as it is shown: no control
// character gets into a shell. A terminal never answers that (OSC 52), so that the
// notice says what was sent, and not that it was taken.
func (env *Env) Copy(what ink.Text, body string) tea.Cmd {
	body = string(ink.Block(body))
	t := ink.Say("Sent to the terminal's clipboard: %s, %s.", what, ink.Amount(int64(len(body))))
	if len(body) > CopyMost {
		body = strings.ToValidUTF8(body[:CopyMost], "")
		t = ink.Say("Sent to the terminal's clipboard: the first %s of %s, which is its limit.", ink.Amount(int64(len(body))), what)
	}
	env.Warn("", t+" "+Unconfirmed)
	return tea.SetClipboard(body)
}

// Unconfirmed is what is known of a text after it was sent there.
const Unconfirmed ink.Text = "It gives no answer: paste to check."
