package tui

import tea "charm.land/bubbletea/v2"

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
