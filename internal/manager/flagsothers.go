package manager

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The manifests of the other implementation of the v1 API start its two managers with flags of their own names. They are taken here, so that a
// Deployment needs another image and no other arguments; help does not show them.

// renamed are flags of the others that we have by another name.
var renamed = map[string]string{
	"metrics-bind-address":      "metrics-address",
	"health-probe-bind-address": "health-address",
	"leader-elect":              "leader-election",
	"cache-path":                "store",
	"cache-dir":                 "store",
	"system-namespace":          "global-namespace",
	"pull-cas-dir":              "registry-certs",
	"catalogs-server-addr":      "catalog-http-address",
	"external-address":          "catalog-http-url",
	"v":                         "verbosity",
}

// needless are flags of the others that say nothing here, and why.
var needless = map[string]string{
	"catalogd-cas-dir":    "catalogs are served within the manager, which asks itself",
	"pprof-bind-address":  "profiles are at /debug/pprof of --metrics-address",
	"gc-interval":         "what no catalog needs any more goes at once",
	"webhook-server-port": "the manager has no webhook: it labels ClusterCatalogs itself",
}

// quiet are the values with which needless flags ask for what is so anyway.
var quiet = map[string]string{"pprof-bind-address": "0"}

// others are the flags of the other implementation.
type others struct {
	flags *pflag.FlagSet
	gates []string
}

func addOthers(flags *pflag.FlagSet) *others {
	o := &others{flags: flags}
	hide := func(name string) {
		if err := flags.MarkHidden(name); err != nil {
			panic("a flag that was just defined is there: " + err.Error())
		}
	}
	for name, ours := range renamed {
		flags.String(name, "", "another name of --"+ours)
		if flags.Lookup(ours).Value.Type() == "bool" {
			flags.Lookup(name).NoOptDefVal = "true"
		}
		hide(name)
	}
	for name, why := range needless {
		flags.String(name, "", "ignored: "+why)
		hide(name)
	}
	flags.StringSliceVar(&o.gates, "feature-gates", nil, "NAME=true or NAME=false for feature gates of the other implementation of the v1 API; a warning says what each means here")
	return o
}

// take makes the flags of the others ours, and says what they mean here.
func (o *others) take(cmd *cobra.Command) (said []string, err error) {
	var failed error
	cmd.Flags().Visit(func(f *pflag.Flag) { // in the order of names
		if ours, ok := renamed[f.Name]; ok && failed == nil {
			if failed = o.rename(f, ours); f.Name != "v" {
				said = append(said, fmt.Sprintf("--%s is --%s here", f.Name, ours))
			}
		}
		if why, ok := needless[f.Name]; ok && f.Value.String() != quiet[f.Name] {
			said = append(said, fmt.Sprintf("--%s is ignored: %s", f.Name, why))
		}
	})
	if failed != nil {
		return nil, failed
	}
	gates, err := meanings(o.gates)
	return append(said, gates...), err
}

func (o *others) rename(f *pflag.Flag, ours string) error {
	is := o.flags.Lookup(ours)
	if is.Changed && is.Value.String() != f.Value.String() {
		return fmt.Errorf("--%s is --%s here, and they are given different values: %q and %q; leave one of them out", f.Name, ours, f.Value, is.Value)
	}
	if err := o.flags.Set(ours, f.Value.String()); err != nil {
		return fmt.Errorf("--%s, which is --%s here: %w", f.Name, ours, err)
	}
	return nil
}
