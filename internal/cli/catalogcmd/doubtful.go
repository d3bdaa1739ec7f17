package catalogcmd

import (
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/catalog/graph"
)

// doubtful reports the needs of bundles that cannot be read or are probably not meant. Both semantics take them alike.
func doubtful(c *catalog.Catalog, pkg string) []graph.Finding {
	var findings []graph.Finding
	for _, p := range constraint.Review(c) {
		if pkg == "" || p.Object.Package == pkg {
			findings = append(findings, graph.Finding{Problem: p, Semantics: []graph.Semantics{graph.V0, graph.V1}})
		}
	}
	return findings
}
