package crd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// ExemptionsKey is the annotation that lists which checks let a change of a CRD pass. On a ClusterExtension it has the published checks; on a CRD it
// has those of Exemptible, for upgrades by InstallPlans.
const ExemptionsKey = "operators.fairlead.dev/crd-upgrade-exemptions"

// Exemptible are the rules for InstallPlans that the annotation of a CRD can exempt, sorted.
func Exemptible() []Check { return []Check{ExistingObjects, ServedVersionRemoval} }

// Exempted is one entry of that annotation.
type Exempted struct {
	Check Check
	// By is the ClusterServiceVersion whose upgrade passes; empty is every one.
	By string
}

// ParseExempted reads the annotation of a CRD: "CHECK [CLUSTERSERVICEVERSION]", separated by semicolons or commas.
func ParseExempted(text string) ([]Exempted, error) {
	var all []Exempted
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ',' }) {
		words := strings.Fields(entry)
		if len(words) == 0 {
			continue
		}
		if len(words) > 2 || len(words) == 2 && len(validation.IsDNS1123Subdomain(words[1])) > 0 {
			return nil, fmt.Errorf("annotation %s has %q, which is not CHECK [CLUSTERSERVICEVERSION]", ExemptionsKey, short(strings.TrimSpace(entry)))
		}
		if !slices.Contains(Exemptible(), Check(words[0])) {
			return nil, fmt.Errorf("annotation %s names the check %q; on a CustomResourceDefinition there are %v", ExemptionsKey, short(words[0]), Exemptible())
		}
		words = append(words, "")
		all = append(all, Exempted{Check: Check(words[0]), By: words[1]})
	}
	return all, nil
}

// exempts reports whether the annotation of the live CRD lets the upgrade pass a check.
func (u Change) exempts(check Check) bool {
	return slices.ContainsFunc(u.Exempted, func(e Exempted) bool { return e.Check == check && (e.By == "" || e.By == u.By.Name) })
}

// exemption is the command by which this one upgrade is exempted from a check, beside what is exempted already.
func (u Change) exemption(check Check) string {
	var values []string
	for _, e := range append(slices.Clone(u.Exempted), Exempted{Check: check, By: u.By.Name}) {
		values = append(values, strings.TrimSpace(string(e.Check)+" "+e.By))
	}
	return fmt.Sprintf("kubectl annotate --overwrite crd %s %s='%s'", u.Desired.Name, ExemptionsKey, strings.Join(values, ", "))
}

// Exemption lets changes pass that a check would stop. Empty fields exempt whatever they could name.
type Exemption struct {
	CRD   string
	Check Check
	// Path exempts a property and all that it holds.
	Path string
	// Reason is for those who read the report.
	Reason string
}

// isPart tells whether a path is another or leads into it.
func isPart(path, whole string) bool {
	rest, found := strings.CutPrefix(path, whole)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Policy is how strictly upgrades are checked. The zero value is the strictest.
type Policy struct {
	// None switches all checks off.
	None bool
	// Exemptions let single changes pass; what they let pass is reported nevertheless.
	Exemptions []Exemption
}

// Exempt marks the findings that an exemption covers, as Safety does with its own.
func (p Policy) Exempt(findings []Finding) []Finding {
	for i := range findings {
		f := &findings[i]
		for _, e := range p.Exemptions {
			if e.CRD != "" && e.CRD != f.CRD || e.Check != "" && e.Check != f.Check || e.Path != "" && !isPart(f.Path, e.Path) {
				continue
			}
			f.Exempt = "exempted"
			if e.Reason != "" {
				f.Exempt += ": " + short(e.Reason)
			}
			break
		}
	}
	return findings
}
