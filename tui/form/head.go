package form

import (
	"slices"

	"handrail/tui/ink"
)

// Refuse says why what the form sent was not taken. All that was typed stays.
func (f *Form) Refuse(why ink.Text) { f.wrong = why }

// RefuseAt is Refuse with the cursor on the line that is wrong.
func (f *Form) RefuseAt(name string, why ink.Text) {
	f.AtLine(name)
	f.Refuse(why)
}

// AtLine puts the cursor on a line.
func (f *Form) AtLine(name string) {
	f.at = max(0, slices.IndexFunc(f.Fields, func(fl Field) bool { return fl.name == name }))
}

func (f *Form) head(th *ink.Theme, w int) ink.Drawn {
	head := th.Accent.On("── ") + th.Title.On(f.Title) + " "
	return head + th.Accent.On(ink.Line("─", w-ink.Cells(head)))
}
