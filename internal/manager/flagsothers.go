package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

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

// gate is a feature gate of the other implementation: what it switches is always on here, or is not there at all.
type gate struct {
	missing bool
	why     string
}

// gates are those that it has, and those that it had: manifests go on naming them.
var gates = map[string]gate{
	"WebhookProviderCertManager":        {why: "cert-manager makes the certificates of webhooks where its API is served; the manager makes them itself where no other issuer exists"},
	"WebhookProviderOpenshiftServiceCA": {why: "the service-ca operator makes the certificates of webhooks on OpenShift, where there is no cert-manager"},
	"SingleOwnNamespaceInstallSupport":  {why: "every install mode that the bundle supports can be had by watchNamespace in spec.config.inline"},
	"BoxcutterRuntime":                  {why: "what is installed is kept in ClusterObjectSets"},
	"DeploymentConfig":                  {why: "spec.config.inline takes deploymentConfig"},
	"BundleReleaseSupport":              {why: "releases of bundles are read and compared"},
	"APIV1MetasHandler":                 {why: "/api/v1/metas is served"},
	"GraphQLCatalogQueries":             {missing: true, why: "/api/v1/graphql is not served; /api/v1/metas takes schema, package and name"},
	"PreflightPermissions":              {why: "the rights of spec.serviceAccount are checked before anything is written"},
	"SyntheticPermissions":              {missing: true, why: "extensions act as the account that spec.serviceAccount names, or as the manager"},
	"HelmChartSupport":                  {missing: true, why: "bundles have the format registry+v1"},
	"ForceSemverUpgradeConstraints":     {missing: true, why: "upgrades follow the edges of the catalog, or any way with upgradeConstraintPolicy SelfCertified"},
	"AllAlpha":                          {why: "what there is needs no gate"},
	"AllBeta":                           {why: "what there is needs no gate"},
}

// meanings say what feature gates that are set mean here; those that ask for what is so anyway are told of as well, but for what is not there
// and not asked for.
func meanings(set []string) ([]string, error) {
	var said []string
	for _, text := range set {
		name, value, ok := strings.Cut(strings.TrimSpace(text), "=")
		on, err := strconv.ParseBool(value)
		if !ok || err != nil {
			return nil, fmt.Errorf("--feature-gates: %q is not of the form NAME=true or NAME=false", text)
		}
		g, known := gates[name]
		switch {
		case !known:
			return nil, fmt.Errorf("--feature-gates: %q is not the name of a feature gate; those that are known are %s", name,
				strings.Join(slices.Sorted(maps.Keys(gates)), ", "))
		case g.missing && on:
			said = append(said, fmt.Sprintf("feature gate %s=true: it is not there: %s", name, g.why))
		case g.missing:
		case on:
			said = append(said, fmt.Sprintf("feature gate %s=true: always on, it can be left out: %s", name, g.why))
		default:
			said = append(said, fmt.Sprintf("feature gate %s=false: it cannot be switched off: %s", name, g.why))
		}
	}
	return said, nil
}
