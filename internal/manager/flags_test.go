package manager

import (
	"io"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/must"

	"github.com/spf13/pflag"
)

// TestZeroIsNotTheDefault: of a duration that a flag gives, 0 is none; without the flag there is the documented one.
func TestZeroIsNotTheDefault(t *testing.T) {
	for text, want := range map[string]time.Duration{"": rollout.DefaultStableAfter, "--stable-after=3s": 3 * time.Second, "--stable-after=0": -1} {
		var o Options
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		addBundleFlags(flags, &o)
		must.NoError(t, flags.Parse(strings.Fields(text)))
		o.takeZeros()
		must.Equal(t, text, o.StableAfter, want)
	}
}

// TestFlagsOfTLSGoTogether: a command that names one file without the other ends at once, whatever cluster there is.
func TestFlagsOfTLSGoTogether(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	for flags, want := range map[string]string{
		"--tls-cert=a":                           "--tls-cert is given without --tls-key",
		"--tls-key=a":                            "--tls-key is given without --tls-cert",
		"--client-ca=a":                          "/nonexistent", // the manager has a certificate of its own
		"--metrics-plain --client-ca=a":          "--metrics-plain is given with --tls-cert, --tls-key or --client-ca",
		"--metrics-plain --tls-cert=a":           "--metrics-plain is given with --tls-cert, --tls-key or --client-ca",
		"--tls-key=a --client-ca=a":              "--tls-key is given without --tls-cert",
		"--tls-cert=a --tls-key=b":               "/nonexistent",
		"--tls-cert=a --tls-key=b --debug":       "/nonexistent",
		"--tls-cert=a --tls-key=b --client-ca=c": "/nonexistent",
	} {
		cmd := New(io.Discard, nil)
		cmd.SetArgs(strings.Fields(flags))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		must.Fail(t, "cmd.ExecuteContext", cmd.ExecuteContext(t.Context()), want)
	}
}
