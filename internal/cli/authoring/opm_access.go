package authoring

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
)

// accessFlags are the flags of all commands that reach registries.
type accessFlags struct{ skipTLS, skipTLSVerify, useHTTP bool }

// hideFlag keeps a flag working and out of the help.
func hideFlag(flags *pflag.FlagSet, name string) {
	if err := flags.MarkHidden(name); err != nil {
		panic("opm: " + err.Error()) // the flag is defined beside the call
	}
}

// config says how registries are reached.
func (f *accessFlags) config() image.Config {
	if f.skipTLS || f.skipTLSVerify || f.useHTTP {
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
