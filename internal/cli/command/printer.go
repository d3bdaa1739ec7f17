package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/messages"
	"golang.org/x/term"
)

// ProgressPrinter writes progress. It is safe for concurrent use.
type ProgressPrinter struct {
	out   io.Writer
	style style
	live  bool
	width int
	now   func() time.Time

	mu      sync.Mutex
	start   time.Time
	current string // the live line, empty when there is none
	waiting string // what Waiting shows, empty when there is none
	since   time.Time
}

// Progress is a printer that rewrites lines where w is a terminal.
func Progress(w io.Writer) *ProgressPrinter {
	p := &ProgressPrinter{out: Styled(w), width: 80, now: time.Now, start: time.Now()}
	if stream := streamOf(w); stream != nil {
		p.style = stream.look.style(stream.Writer)
	}
	if file := terminal(w); file != nil {
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
	p.show(fmt.Sprintf(format, args...))
}

// show puts the live line in the place of the one before.
func (p *ProgressPrinter) show(text string) {
	p.erase()
	p.current = p.style.text("  … " + text)
	if room := p.width - 1; cells(p.current) > room { // so that it can be rewritten in place
		p.current = p.style.text(messages.Short(p.current, room-cells(p.style.text("…"))+1))
	}
	io.WriteString(p.out, p.current)
}

// Waiting shows what is waited for. It becomes a line of its own as soon as something else is written: an error that ends the wait says it itself,
// after Forget, so that it is printed once.
func (p *ProgressPrinter) Waiting(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	p.waiting, p.since = text, p.now()
	if p.live {
		p.show(text)
	}
}

// Forget takes away what Waiting shows.
func (p *ProgressPrinter) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.waiting = ""
}

// settle writes what was waited for as a line.
func (p *ProgressPrinter) settle() {
	if p.waiting == "" {
		return
	}
	p.erase()
	fmt.Fprintf(p.out, "%7.2fs · %s\n", p.since.Sub(p.start).Seconds(), p.waiting)
	p.waiting = ""
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
	p.settle()
	p.erase()
	io.WriteString(p.out, strings.TrimRight(text, "\n")+"\n")
}

func (p *ProgressPrinter) line(mark string, goesOn bool, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
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
