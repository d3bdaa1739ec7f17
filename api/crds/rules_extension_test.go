package crds_test

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

const extension = `
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: a}
spec:
  namespace: a
  serviceAccount: {name: installer}
  source: {sourceType: Catalog, catalog: {packageName: a}}
`

func TestClusterExtensionRules(t *testing.T) {
	long := strings.Repeat("a", 254)
	checkCreate(t, extension, map[string]ruleCase{
		"as it is":                     {`{}`, "", ""},
		"no spec":                      {`{spec: null}`, "", ""},
		"no namespace":                 {`{spec: {namespace: null}}`, "spec.namespace", "Required"},
		"no source":                    {`{spec: {source: null}}`, "spec.source", "Required"},
		"namespace too long":           {`{spec: {namespace: ` + long[:64] + `}}`, "spec.namespace", "63"},
		"namespace in upper case":      {`{spec: {namespace: A}}`, "spec.namespace", "namespace must be a valid DNS1123 label"},
		"empty service account":        {`{spec: {serviceAccount: {name: null}}}`, "spec.serviceAccount", "at least 1 properties"},
		"service account too long":     {`{spec: {serviceAccount: {name: ` + long + `}}}`, "spec.serviceAccount.name", "253"},
		"nameless service account":     {`{spec: {serviceAccount: {name: ""}}}`, "spec.serviceAccount.name", "at least 1 chars"},
		"no service account":           {`{spec: {serviceAccount: null}}`, "", ""},
		"namespace with a dot":         {`{spec: {namespace: a.b}}`, "spec.namespace", "namespace must be a valid DNS1123 label"},
		"unknown configuration type":   {`{spec: {config: {configType: File}}}`, "spec.config.configType", "Inline"},
		"version":                      {`{spec: {source: {catalog: {version: ">=1.0.0 <2.0.0"}}}}`, "", ""},
		"no version":                   {`{spec: {source: {catalog: {version: latest}}}}`, "spec.source.catalog.version", "invalid version expression"},
		"version too long":             {`{spec: {source: {catalog: {version: 1.0.0-` + long[:59] + `}}}}`, "spec.source.catalog.version", "64"},
		"as many channels as can be":   {`{spec: {source: {catalog: {channels: [` + strings.Repeat("a,", 256) + `]}}}}`, "", ""},
		"longest deadline":             {`{spec: {progressDeadlineMinutes: 720}}`, "", ""},
		"service account in upper":     {`{spec: {serviceAccount: {name: A}}}`, "spec.serviceAccount.name", "DNS1123 subdomain"},
		"unknown source type":          {`{spec: {source: {sourceType: Image}}}`, "spec.source.sourceType", "Catalog"},
		"no source type":               {`{spec: {source: {sourceType: null, catalog: null}}}`, "spec.source.sourceType", "Required"},
		"no catalog":                   {`{spec: {source: {catalog: null}}}`, "spec.source", "catalog is required when sourceType is Catalog"},
		"no package":                   {`{spec: {source: {catalog: {packageName: null}}}}`, "spec.source.catalog.packageName", "Required"},
		"package in upper case":        {`{spec: {source: {catalog: {packageName: A}}}}`, "spec.source.catalog.packageName", "DNS1123 subdomain"},
		"package too long":             {`{spec: {source: {catalog: {packageName: ` + long + `}}}}`, "spec.source.catalog.packageName", "253"},
		"channels":                     {`{spec: {source: {catalog: {channels: [stable, v1.2]}}}}`, "", ""},
		"channel with underscore":      {`{spec: {source: {catalog: {channels: [a_b]}}}}`, "spec.source.catalog.channels[0]", "channels entries must be valid DNS1123 subdomains"},
		"channel too long":             {`{spec: {source: {catalog: {channels: [` + long + `]}}}}`, "spec.source.catalog.channels[0]", "253"},
		"too many channels":            {`{spec: {source: {catalog: {channels: [` + strings.Repeat("a,", 257) + `]}}}}`, "spec.source.catalog.channels", "256"},
		"selector":                     {`{spec: {source: {catalog: {selector: {matchLabels: {a: b}}}}}}`, "", ""},
		"self certified":               {`{spec: {source: {catalog: {upgradeConstraintPolicy: SelfCertified}}}}`, "", ""},
		"unknown policy":               {`{spec: {source: {catalog: {upgradeConstraintPolicy: Any}}}}`, "spec.source.catalog.upgradeConstraintPolicy", "SelfCertified"},
		"empty install":                {`{spec: {install: {}}}`, "spec.install", "at least one of [preflight] are required when install is specified"},
		"empty preflight":              {`{spec: {install: {preflight: {}}}}`, "spec.install.preflight.crdUpgradeSafety", "Required"},
		"empty safety":                 {`{spec: {install: {preflight: {crdUpgradeSafety: {}}}}}`, "spec.install.preflight.crdUpgradeSafety.enforcement", "Required"},
		"safety off":                   {`{spec: {install: {preflight: {crdUpgradeSafety: {enforcement: None}}}}}`, "", ""},
		"unknown enforcement":          {`{spec: {install: {preflight: {crdUpgradeSafety: {enforcement: Warn}}}}}`, "spec.install.preflight.crdUpgradeSafety.enforcement", "Strict"},
		"inline configuration":         {`{spec: {config: {configType: Inline, inline: {watchNamespace: a, deep: {er: [1, null]}}}}}`, "", ""},
		"configuration without inline": {`{spec: {config: {configType: Inline}}}`, "spec.config", "inline is required when configType is Inline"},
		"configuration without type":   {`{spec: {config: {inline: {a: b}}}}`, "spec.config.configType", "Required"},
		"empty inline":                 {`{spec: {config: {configType: Inline, inline: {}}}}`, "spec.config.inline", "at least 1 properties"},
		"inline is no object":          {`{spec: {config: {configType: Inline, inline: text}}}`, "spec.config.inline", "object"},
		"deadline":                     {`{spec: {progressDeadlineMinutes: 10}}`, "", ""},
		"deadline too short":           {`{spec: {progressDeadlineMinutes: 9}}`, "spec.progressDeadlineMinutes", "10"},
		"deadline too long":            {`{spec: {progressDeadlineMinutes: 721}}`, "spec.progressDeadlineMinutes", "720"},
		"status":                       {`{status: {install: {bundle: {name: a.v1, version: 1.2.3-rc.1+2, release: ""}}, activeRevisions: [{name: a-1}]}}`, "", ""},
		"bundle without version":       {`{status: {install: {bundle: {name: a.v1}}}}`, "status.install.bundle.version", "Required"},
		"bundle without good name":     {`{status: {install: {bundle: {name: A, version: 1.2.3}}}}`, "status.install.bundle.name", "DNS1123 subdomain"},
		"bundle without good version":  {`{status: {install: {bundle: {name: a, version: one}}}}`, "status.install.bundle.version", "semver"},
		"release too long":             {`{status: {install: {bundle: {name: a, version: 1.2.3, release: aaaaaaaaaaaaaaaaaaaaa}}}}`, "status.install.bundle.release", "20"},
		"release with underscore":      {`{status: {install: {bundle: {name: a, version: 1.2.3, release: a_b}}}}`, "status.install.bundle.release", "joined by dots"},
		"revision twice":               {`{status: {activeRevisions: [{name: a-1}, {name: a-1}]}}`, "status.activeRevisions[1]", "Duplicate"},
		"revision without name":        {`{status: {activeRevisions: [{}]}}`, "status.activeRevisions[0].name", "Required"},
	})
}

func TestClusterExtensionUpdateRules(t *testing.T) {
	checkUpdate(t, extension, map[string]ruleCase{
		"other namespace":         {`{spec: {namespace: b}}`, "spec.namespace", "namespace is immutable"},
		"other package":           {`{spec: {source: {catalog: {packageName: b}}}}`, "spec.source.catalog.packageName", "packageName is immutable"},
		"other service account":   {`{spec: {serviceAccount: {name: b}}}`, "spec.serviceAccount.name", "name is immutable"},
		"service account cleared": {`{spec: {serviceAccount: null}}`, "", ""},
		"service account emptied": {`{spec: {serviceAccount: {name: null}}}`, "spec.serviceAccount", "at least 1 properties"},
		"other version":           {`{spec: {source: {catalog: {version: ^2}}}}`, "", ""},
	})
}

// TestServiceAccountIsSetLater: what was cleared can be set again, to any name.
func TestServiceAccountIsSetLater(t *testing.T) {
	without := strings.Replace(extension, "  serviceAccount: {name: installer}\n", "", 1)
	checkUpdate(t, without, map[string]ruleCase{"set": {`{spec: {serviceAccount: {name: other}}}`, "", ""}})
}

func TestClusterExtensionDefaults(t *testing.T) {
	stored, _, _ := admit(t, parse(t, extension))
	must.Equal(t, "upgradeConstraintPolicy defaults", at(stored, "spec", "source", "catalog", "upgradeConstraintPolicy"), "CatalogProvided")
}
