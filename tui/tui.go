package tui

import (
	"handrail/tui/ink"
	"handrail/tui/keymap"
	"handrail/tui/screen"
)

// What a program that shows the face needs to name.
type (
	Config   = screen.Config
	Incident = screen.Incident
	Tape     = screen.Tape
	Place    = screen.Place

	Home        = screen.Home
	IncidentRow = screen.IncidentRow
	SameTarget  = screen.SameTarget
	DebtRow     = screen.DebtRow
	DrillRow    = screen.DrillRow
	RunbookRow  = screen.RunbookRow
	Story       = screen.Story

	Hit     = screen.Hit
	Alike   = screen.Alike
	Symptom = screen.Symptom

	Start = screen.Start

	Untrusted = screen.Untrusted
	Used      = screen.Used

	SealOptions = screen.SealOptions
	Signer      = screen.Signer
	SealOrder   = screen.SealOrder
	SealResult  = screen.SealResult
)

// GroundOf is the background that the variable COLORFGBG tells.
func GroundOf(colorfgbg string) ink.Ground { return ink.GroundOf(colorfgbg) }

// Themes lists the names that a theme can be asked for by.
func Themes() []string { return ink.Themes() }

// UsualPlaces is what is looked for where a person said nothing else.
func UsualPlaces() []Place { return screen.UsualPlaces() }

// Commands lists the commands whose keys can be changed.
func Commands() []string { return keymap.Commands(openers(new(model).table())...) }

// CheckKeys says what is wrong with a change of the key map.
func CheckKeys(change map[string][]string) error {
	return keymap.CheckKeys(change, openers(new(model).table())...)
}
