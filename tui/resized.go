package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// resized makes the screen whole after the window became another size.
//
// A frame that is on its way while a window is pulled at may scroll a part of
// the screen. It gives the margins of its scrolling back as the last row that it
// knew, and in a window that has become taller they stay there: the next frame
// would scroll its own head away. So the margins are taken off, with the cursor
// left where it is, and the screen is drawn once more.
func resized() tea.Cmd {
	const saveCursor, noMargins, restoreCursor = "\x1b7", "\x1b[r", "\x1b8"
	return tea.Sequence(tea.Raw(saveCursor+noMargins+restoreCursor), tea.ClearScreen)
}

// sized asks for the size of the window after fg, and again a second later. No signal
// tells a stopped program of a new size, and an answer from before the stop may come
// last: the screen would keep the old width until the next resize.
func sized() tea.Cmd {
	return tea.Batch(tea.RequestWindowSize, tea.Tick(time.Second, func(time.Time) tea.Msg { return tea.RequestWindowSize() }))
}
