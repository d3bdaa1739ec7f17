package manager

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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
