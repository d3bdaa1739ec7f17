package authoring

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/internal/cli/command"
)

// fleet is what runs in clusters, as the user says.
type fleet struct {
	installed []string
	from      string // a file
}

// flags adds those that name installed versions; use says what for.
func (f *fleet) flags(cmd *cobra.Command, use string) {
	cmd.Flags().StringArrayVar(&f.installed, "installed", nil, use+", as package=version or package/channel=version; a bundle's name will do for the version")
	cmd.Flags().StringVar(&f.from, "installed-from", "", "a file with installed versions, one in a line; - for standard input")
}

// read is all that is said to be installed.
func (f *fleet) read(s command.Streams) ([]graph.Installed, error) {
	var all []graph.Installed
	for _, text := range f.installed {
		in, err := graph.ParseInstalled(text)
		if err != nil {
			return nil, command.UsageError{Err: err}
		}
		all = append(all, in)
	}
	if f.from == "" {
		return all, nil
	}
	file, err := s.Open(f.from)
	if err != nil {
		return nil, fmt.Errorf("read installed versions: %w", err)
	}
	defer file.Close()
	more, err := readFleet(file)
	if err != nil {
		return nil, fmt.Errorf("read installed versions from %s: %w", f.from, err)
	}
	return append(all, more...), nil
}

// readFleet reads one installed version in a line. Empty lines and those that begin with # mean nothing.
func readFleet(r io.Reader) ([]graph.Installed, error) {
	const most = 1_000_000
	var all []graph.Installed
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		in, err := graph.ParseInstalled(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if all = append(all, in); len(all) > most {
			return nil, fmt.Errorf("line %d: more than %d installed versions", n, most)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("a line is longer than %d bytes; write package=version in each line", bufio.MaxScanTokenSize)
	}
	return all, lines.Err()
}
