package command

import (
	"io"
	"os"

	"golang.org/x/term"

	"fairlead.dev/fairlead/internal/progress"
)

// Progress is a printer that rewrites lines where w is a terminal.
func Progress(w io.Writer) *progress.Printer {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return progress.New(w, false, 0)
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 80
	}
	return progress.New(w, true, width)
}
