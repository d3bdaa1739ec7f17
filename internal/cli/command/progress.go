package command

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Progress is a printer that rewrites lines where w is a terminal.
func Progress(w io.Writer) *ProgressPrinter {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return New(w, false, 0)
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 80
	}
	return New(w, true, width)
}
