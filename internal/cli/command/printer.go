package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
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

// New returns a printer. live says that out is a terminal of the given width, where a line may be rewritten.
func New(out io.Writer, live bool, width int) *ProgressPrinter {
	return newPrinter(out, live, width, time.Now)
}

func newPrinter(out io.Writer, live bool, width int, now func() time.Time) *ProgressPrinter {
	if width < 20 {
		width = 80
	}
	return &ProgressPrinter{out: out, live: live, width: width, now: now, start: now()}
}

// Doing shows what is going on now. In a pipe it writes nothing: what counts there is what was done.
func (p *ProgressPrinter) Doing(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		return
	}
	p.erase()
	p.current = p.fit("  … " + fmt.Sprintf(format, args...))
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

// Note writes a line about something that happened; what is going on goes on.
func (p *ProgressPrinter) Note(format string, args ...any) { p.line("·", true, format, args...) }

// Problem writes a line about something that is wrong. It takes the place of the live line.
func (p *ProgressPrinter) Problem(format string, args ...any) { p.line("✗", false, format, args...) }

// Title writes a heading.
func (p *ProgressPrinter) Title(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintf(p.out, "\n%s\n", fmt.Sprintf(format, args...))
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

// fit cuts a line to the width of the terminal, so that it can be rewritten in place.
func (p *ProgressPrinter) fit(text string) string {
	if utf8.RuneCountInString(text) < p.width {
		return text
	}
	return string([]rune(text)[:p.width-2]) + "…"
}
