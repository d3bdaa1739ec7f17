package authoring

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
)

// accessFlags are the flags of all commands that reach registries.
type accessFlags struct{ skipTLS, skipTLSVerify, useHTTP bool }

func (f *accessFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.skipTLS, "skip-tls", false, "reach registries over plain HTTP (deprecated: use --use-http and --skip-tls-verify)")
	flags.BoolVar(&f.skipTLSVerify, "skip-tls-verify", false, "accept certificates of registries without verifying who signed them")
	flags.BoolVar(&f.useHTTP, "use-http", false, "reach registries over plain HTTP")
	hideFlag(flags, "skip-tls")
}

// check refuses flags that contradict each other.
func (f *accessFlags) check() error {
	switch {
	case f.skipTLS && f.useHTTP:
		return command.UsageError{Err: errors.New("invalid flag combination: cannot use --use-http with --skip-tls")}
	case f.skipTLS && f.skipTLSVerify:
		return command.UsageError{Err: errors.New("invalid flag combination: cannot use --skip-tls-verify with --skip-tls")}
	case f.useHTTP && f.skipTLSVerify:
		return command.UsageError{Err: errors.New("invalid flag combination: --use-http and --skip-tls-verify cannot both be true")}
	}
	return nil
}

// insecure tells whether registries need not prove who they are.
func (f *accessFlags) insecure() bool { return f.skipTLS || f.skipTLSVerify || f.useHTTP }

// hideFlag keeps a flag working and out of the help.
func hideFlag(flags *pflag.FlagSet, name string) {
	if err := flags.MarkHidden(name); err != nil {
		panic("opm: " + err.Error()) // the flag is defined beside the call
	}
}

// config says how registries are reached.
func (f *accessFlags) config() image.Config {
	if f.insecure() {
		return image.Config{Insecure: []string{image.AnyHost}}
	}
	return image.Config{}
}

// renderer reads references, and says on stderr what it passes over.
func (f *accessFlags) renderer(stderr io.Writer, allowed bundleio.Kinds) *bundleio.Renderer {
	return &bundleio.Renderer{
		Config:  f.config(),
		Allowed: allowed,
		Warn:    func(ref, text string) { fmt.Fprintf(stderr, "warning: %s: %s\n", ref, text) },
	}
}

// closeNoting closes what a command has used, and says when that leaves something behind.
func closeNoting(stderr io.Writer, c io.Closer) {
	if err := c.Close(); err != nil {
		fmt.Fprintln(stderr, "warning:", err)
	}
}
