package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// Info marks what is legal and may be meant, but is worth knowing.
const Info catalog.Severity = "Info"

// Finding is a judgement about an upgrade graph, and under which semantics it
// holds.
type Finding struct {
	catalog.Problem
	Semantics []Semantics `json:"semantics"`
}

// String is the finding in one line.
func (f Finding) String() string {
	text := f.Problem.String()
	return strings.Replace(text, " ["+string(f.Rule)+"]", " ["+string(f.Rule)+", "+f.holds()+"]", 1)
}

// holds names the semantics for people.
func (f Finding) holds() string {
	texts := make([]string, len(f.Semantics))
	for i, s := range f.Semantics {
		texts[i] = string(s)
	}
	return strings.Join(texts, " and ")
}

// Rules of what an upgrade graph is made of. What breaks them is no part of it.
// The rules of package catalog about heads, chains and entries are found, too.
const (
	RuleEdgeMisnamed catalog.Rule = "edge-misnamed"      // names a version that has another name
	RuleEdgeNowhere  catalog.Rule = "edge-nowhere"       // names what the package does not have
	RuleEdgeOutside  catalog.Rule = "edge-other-channel" // names what only other channels have
	RuleEdgeSelf     catalog.Rule = "edge-self"          // leads from an entry to itself
)

// Rules of where upgrades lead.
const (
	RuleReplacedTwice   catalog.Rule = "replaced-twice"
	RuleVersionStuck    catalog.Rule = "version-stuck"
	RuleMinorGap        catalog.Rule = "minor-gap"
	RuleUpgradeLoop     catalog.Rule = "upgrade-loop"
	RuleVersionBack     catalog.Rule = "version-backwards"
	RuleSkipRangeBack   catalog.Rule = "skip-range-backwards"
	RuleSkippedIgnored  catalog.Rule = "skipped-edges-ignored"
	RuleSkippedTaken    catalog.Rule = "skipped-version-taken"
	RuleHistoryWiped    catalog.Rule = "history-wiped"
	RuleHeadUnreachable catalog.Rule = "head-unreachable"
	RuleHeadDeprecated  catalog.Rule = "head-deprecated"
)

// Rules that compare the channels of a package.
const (
	RuleHeadAbandoned     catalog.Rule = "head-abandoned"
	RuleDefaultOlder      catalog.Rule = "default-channel-older"
	RuleDefaultDeprecated catalog.Rule = "default-channel-deprecated"
)

// Rules of what is installed somewhere.
const (
	RuleInstalledUnknown catalog.Rule = "installed-unknown"
	RuleInstalledStuck   catalog.Rule = "installed-stuck"
)

// Options narrow and extend a Check.
type Options struct {
	// Package is the only one to check; empty means all of them.
	Package string
	// Installed are versions that run somewhere and must have a way on.
	Installed []Installed
}

// Check judges the upgrade graphs of a catalog. The findings are in the order
// of file and line.
func Check(c *catalog.Catalog, opts Options) []Finding {
	var all []Finding
	for _, n := range networks(c) {
		if opts.Package == "" || opts.Package == n.name {
			check := checker{network: n}
			// Report those whose version is needed and cannot be read.
			for _, v := range check.network.order {
				if v.bundle == nil || v.known {
					continue
				}
				_, err := versionOf(v.bundle)
				check.findings = append(check.findings, Finding{Semantics: both, Problem: catalog.Problem{
					Severity: catalog.Error, Rule: catalog.RuleBundleVersion, Position: v.bundle.Position,
					Object:  catalog.Object{Schema: catalog.SchemaBundle, Package: check.network.name, Name: v.name},
					Message: fmt.Sprintf("the version cannot be read: %v", err),
					Fix:     "correct it; until then nothing upgrades to the bundle",
				}})
			}
			// The versions that come to the head of some channel.
			saved := map[Semantics]map[*node]bool{V0: {}, V1: {}}
			for _, c := range check.network.channels {
				for _, e := range c.endings() {
					for v, end := range e.ends {
						if e.good[end] {
							saved[e.semantics][v] = true
						}
					}
				}
			}
			for _, c := range check.network.channels {
				check.structure(c)
				check.edges(c)
				check.backwards(c)
				check.reach(c, saved)
				check.heads(c)
			}
			check.channels()
			// Make one finding of those that say the same for v0 and for v1
			first := map[catalog.Problem]int{}
			var merged []Finding
			for _, f := range check.findings {
				if i, ok := first[f.Problem]; ok {
					merged[i].Semantics = both
					continue
				}
				first[f.Problem] = len(merged)
				merged = append(merged, f)
			}
			check.findings = merged
			all = append(all, check.findings...)
		}
	}
	said := map[Installed]bool{}
	for _, o := range Simulate(c, opts.Installed) {
		if known := said[o.Installed]; !known && (opts.Package == "" || opts.Package == o.Package) {
			said[o.Installed] = true
			all = append(all, o.findings(c)...)
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Position.File, b.Position.File), cmp.Compare(a.Position.Line, b.Position.Line))
	})
	return all
}

// checker collects the findings about a package.
type checker struct {
	network   *network
	findings  []Finding
	byVersion map[string][]*node // bundles; made when it is needed
	ascending []*node            // bundles; made when it is needed
}

var (
	onlyV0 = []Semantics{V0}
	onlyV1 = []Semantics{V1}
	both   = []Semantics{V0, V1}
)

func (k *checker) report(severity catalog.Severity, rule catalog.Rule, holds []Semantics, c *channel, message, fix string) {
	p := catalog.Problem{Severity: severity, Rule: rule, Message: message, Fix: fix,
		Object: catalog.Object{Schema: catalog.SchemaPackage, Name: k.network.name}}
	if c != nil {
		p.Object = catalog.Object{Schema: catalog.SchemaChannel, Package: k.network.name, Name: c.name}
		p.Position = c.source.Position
	} else if k.network.source != nil {
		p.Position = k.network.source.Position
	}
	k.findings = append(k.findings, Finding{Problem: p, Semantics: holds})
}
