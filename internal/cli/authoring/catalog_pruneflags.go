package authoring

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/prune"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/version"
)

// show is what to print instead of the catalog, nil if that is to be written.
func (f *pruneFlags) show() (func(io.Writer, *prune.Report) error, error) {
	shows := map[string]func(io.Writer, *prune.Report) error{
		"images":      func(w io.Writer, r *prune.Report) error { return r.WriteImages(w) },
		"report":      func(w io.Writer, r *prune.Report) error { return r.Write(w) },
		"report-json": func(w io.Writer, r *prune.Report) error { return writeJSON(w, r) },
	}
	show, ok := shows[f.to.output]
	switch {
	case ok && f.to.directory != "":
		return nil, command.UsageError{Err: fmt.Errorf("-o %s prints no catalog that could be written to %s; use --images or --report", f.to.output, f.to.directory)}
	case ok:
		return show, nil
	case f.to.output != string(catalog.JSON) && f.to.output != string(catalog.YAML):
		return nil, command.UsageError{Err: fmt.Errorf("output format %q: choose json, yaml, images, report or report-json", f.to.output)}
	}
	return nil, f.to.check()
}

func (f *pruneFlags) options(streams command.Streams) (prune.Options, error) {
	opts := prune.Options{WithoutDependencies: f.withoutDeps, DefaultChannels: map[string]string{}}
	for _, text := range f.packages {
		s, err := parseSelection(text)
		if err != nil {
			return opts, command.UsageError{Err: fmt.Errorf("--package %q: %w", text, err)}
		}
		s.HeadsOnly = f.headsOnly
		opts.Packages = append(opts.Packages, s)
	}
	for _, text := range f.defaults {
		pkg, channel, ok := strings.Cut(text, "=")
		if !ok || pkg == "" || channel == "" {
			return opts, command.UsageError{Err: fmt.Errorf("--default-channel %q: write package=channel", text)}
		}
		opts.DefaultChannels[pkg] = channel
	}
	var err error
	if opts.Installed, err = f.fleet.read(streams); err != nil {
		return opts, err
	}
	if len(opts.Packages) == 0 && len(opts.Installed) == 0 {
		return opts, command.UsageError{Err: errors.New("nothing is to be kept; name packages with --package, or what runs with --installed")}
	}
	return opts, nil
}

// parseSelection reads package[/channel,...][=RANGE].
func parseSelection(text string) (prune.Selection, error) {
	what, versions, ranged := strings.Cut(text, "=")
	pkg, channels, named := strings.Cut(what, "/")
	s := prune.Selection{Package: pkg}
	if named {
		s.Channels = strings.Split(channels, ",")
	}
	if pkg == "" || named && strings.Contains(","+channels+",", ",,") {
		return s, errors.New("write package, package/channel,channel, package=RANGE or package/channel=RANGE")
	}
	if !ranged {
		return s, nil
	}
	var err error
	if s.Versions, err = version.ParseRange(versions); err != nil {
		return s, fmt.Errorf("write a range such as \">=1.0.0 <2.0.0\": %w", err)
	}
	return s, nil
}

func writeJSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// writeFile writes to a file; without a name it does nothing.
func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var text strings.Builder
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text.String()), 0o666)
}
