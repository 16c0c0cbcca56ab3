//go:build !unix

package tui

import tea "charm.land/bubbletea/v2"

// toShell stops the program where the system can do that.
func toShell() tea.Cmd { return tea.Suspend }
