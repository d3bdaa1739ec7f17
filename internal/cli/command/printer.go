package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"fairlead.dev/fairlead/internal/messages"
	"golang.org/x/term"
)

// ProgressPrinter writes progress. It is safe for concurrent use.
type ProgressPrinter struct {
	out   io.Writer
	live  bool
	width int
	now   func() time.Time

	mu      sync.Mutex
	start   time.Time
	current string // the live line, empty when there is none
}

// Progress is a printer that rewrites lines where w is a terminal.
func Progress(w io.Writer) *ProgressPrinter {
	p := &ProgressPrinter{out: w, width: 80, now: time.Now, start: time.Now()}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.live = true
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width >= 20 {
			p.width = width
		}
	}
	return p
}

// Doing shows what is going on now. In a pipe it writes nothing: what counts there is what was done.
func (p *ProgressPrinter) Doing(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		return
	}
	p.erase()
	p.current = "  … " + fmt.Sprintf(format, args...)
	if utf8.RuneCountInString(p.current) >= p.width { // so that it can be rewritten in place
		p.current = messages.Short(p.current, p.width-1)
	}
	io.WriteString(p.out, p.current)
}

// Clear takes away what Doing shows.
func (p *ProgressPrinter) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// Done writes a line about something that is finished, with the time since the start. It takes the place of the live line.
func (p *ProgressPrinter) Done(format string, args ...any) { p.line("✓", false, format, args...) }

// Note writes a line about something that happened; what is going on continues.
func (p *ProgressPrinter) Note(format string, args ...any) { p.line("·", true, format, args...) }

// Problem writes a line about something that is wrong. It takes the place of the live line.
func (p *ProgressPrinter) Problem(format string, args ...any) { p.line("✗", false, format, args...) }

// Title writes a heading.
func (p *ProgressPrinter) Title(format string, args ...any) {
	p.Text("\n" + fmt.Sprintf(format, args...))
}

// Text writes lines as they are.
func (p *ProgressPrinter) Text(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	io.WriteString(p.out, strings.TrimRight(text, "\n")+"\n")
}

func (p *ProgressPrinter) line(mark string, goesOn bool, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown := p.current
	p.erase()
	fmt.Fprintf(p.out, "%7.2fs %s %s\n", p.now().Sub(p.start).Seconds(), mark, fmt.Sprintf(format, args...))
	if goesOn && shown != "" {
		p.current = shown
		io.WriteString(p.out, shown)
	}
}

// erase takes the live line away.
func (p *ProgressPrinter) erase() {
	if p.current != "" {
		io.WriteString(p.out, "\r\x1b[K")
		p.current = ""
	}
}
