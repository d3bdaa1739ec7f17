package command

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Look is how text for people is shown: coloured, folded and in ASCII, as the terminal, the environment and the flag --color say.
type Look struct {
	color string
	env   func(string) string
}

// NewLook is what the environment asks for.
func NewLook(env func(string) string) *Look { return &Look{color: colorAuto, env: env} }

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// Flag adds --color to a command and to all below it.
func (l *Look) Flag(root *cobra.Command) {
	root.PersistentFlags().StringVar(&l.color, "color", colorAuto, "colour: auto (on a terminal, unless NO_COLOR is set), always or never")
}

// Check refuses values of --color that do not exist.
func (l *Look) Check() error {
	switch l.color {
	case colorAuto, colorAlways, colorNever:
		return nil
	}
	return UsageError{fmt.Errorf("--color %q: choose auto, always or never", l.color)}
}

// Stream is an output that may be a terminal. What is written to results goes out as it is, which is right for what programs read; Styled is for people.
type Stream struct {
	io.Writer
	look *Look
}

// Results makes a stream of what results are written to.
func (l *Look) Results(w io.Writer) *Stream { return &Stream{w, l} }

// Messages makes a stream of what messages for people are written to, and nothing else: all of it is shown as the look has it, but for what is
// written to Raw.
func (l *Look) Messages(w io.Writer) io.Writer { return &messageStream{Stream: Stream{w, l}} }

type messageStream struct {
	Stream
	mu     sync.Mutex
	styled io.Writer // made when it is needed, once flags are read
}

func (m *messageStream) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.styled == nil {
		m.styled = Styled(&m.Stream)
	}
	return m.styled.Write(p)
}

// streamOf is the stream that a writer is; nil when it is none.
func streamOf(w io.Writer) *Stream {
	switch w := w.(type) {
	case *Stream:
		return w
	case *messageStream:
		return &w.Stream
	}
	return nil
}

// Raw is where logs are written: as they are.
func Raw(w io.Writer) io.Writer {
	if s := streamOf(w); s != nil {
		return s.Writer
	}
	return w
}

// Styled is where text for people is written, as the look of a Stream has it. Any other writer is returned as it is.
func Styled(w io.Writer) io.Writer {
	s := streamOf(w)
	if s == nil {
		return w
	}
	if is := s.look.style(s.Writer); is != (style{}) {
		return &styled{out: s.Writer, style: is}
	}
	return s.Writer
}

// Width is how many columns the terminal behind a writer has; 0 where there is none, or where it is too narrow to fold text to.
func Width(w io.Writer) int {
	if s := streamOf(w); s != nil {
		return s.look.style(s.Writer).width
	}
	return 0
}

// terminal is the terminal that a writer is; nil when it is none.
func terminal(w io.Writer) *os.File {
	if file, ok := Raw(w).(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// style is what is done with text.
type style struct {
	color, ascii bool
	width        int // to fold to; 0 is not at all
}

// narrowest is the least width that text is folded to, in columns.
const narrowest = 20

func (l *Look) style(w io.Writer) style {
	s := style{ascii: !l.unicode(), color: l.color == colorAlways}
	file := terminal(w)
	if file == nil {
		return s
	}
	if l.color == colorAuto {
		s.color = l.env("NO_COLOR") == "" && l.env("TERM") != "dumb"
	}
	columns, err := strconv.Atoi(l.env("COLUMNS"))
	if err != nil || columns <= 0 {
		if columns, _, err = term.GetSize(int(file.Fd())); err != nil {
			return s
		}
	}
	if columns >= narrowest {
		s.width = columns
	}
	return s
}

// unicode reports whether the locale has more than ASCII. One that says nothing, as in most containers, is taken for UTF-8, which terminals are.
func (l *Look) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(l.env(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return true
}
