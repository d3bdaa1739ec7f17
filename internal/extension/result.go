package extension

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// Change is what becomes of an extension.
type Change string

const (
	// Install is the first installation.
	Install Change = "install"
	// Upgrade leads to a higher version, or to another bundle of the same.
	Upgrade Change = "upgrade"
	// Downgrade leads to a lower version.
	Downgrade Change = "downgrade"
	// Stay keeps the installed bundle, which is the best that the catalogs have to offer.
	Stay Change = "stay"
	// Keep keeps the installed bundle because no catalog is selected that could offer anything, or because what could have offered it cannot be
	// used. Result.Bundle is nil then.
	Keep Change = "keep"
	// Nothing is decided when there is no answer.
	Nothing Change = ""
)

// Result is a decision, and what it was made of.
type Result struct {
	Change Change
	// Bundle is what to have; nil when there is no answer, or nothing but what is installed.
	Bundle *catalog.BundleInfo
	// Catalog is where it comes from, and Channels are those of the requested channels that it is in.
	Catalog  string
	Channels []string
	// Held is the newest version that is wanted and cannot be had now, if there is one.
	Held *Held
	// Missing is what other extensions would have to install so that the most wanted version could be had; none when nothing is missing, or
	// when that would not help.
	Missing []Missing
	// Deprecation is what the catalog says about the package.
	Deprecation *Deprecation
	// MaxOpenShiftVersion is the last minor version of OpenShift that the bundle supports; empty when it does not say.
	MaxOpenShiftVersion string
	// LeftOut says what cannot be used and could have changed the answer: catalogs that were never read, and content that breaks a rule. The
	// texts are the same for as long as the same is left out.
	LeftOut []string
	// Notes are worth knowing and need no action. What is left out is among them.
	Notes []string
	// Candidates are all versions of the package in the selected catalogs, the most wanted first.
	Candidates []Candidate
	// Record is what the decision was made on, and its outcome.
	Record Record
}

// Candidate is a version of the package in a catalog. It can be had when nothing refuses it.
type Candidate struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Catalog    string   `json:"catalog"`
	Channels   []string `json:"channels"`
	Deprecated bool     `json:"deprecated,omitempty"`
	Refused    []string `json:"refused,omitempty"`
}

// Deprecation is what a catalog says about a package and what is followed or installed of it. What is empty is not deprecated.
type Deprecation struct {
	Catalog string `json:"catalog"`
	Package string `json:"package,omitempty"`
	// Channels are the messages about the channels that are followed, by name.
	Channels map[string]string `json:"channels,omitempty"`
	// Installed and Chosen are the messages about the bundle that is installed, and about the one to have.
	Installed string `json:"installed,omitempty"`
	Chosen    string `json:"chosen,omitempty"`
}

// result describes the chosen candidate.
func (b *builder) result(chosen *candidate) *Result {
	r := &Result{Candidates: b.verdicts(), Deprecation: b.deprecation(chosen), Missing: b.missing()}
	if chosen == nil {
		return r
	}
	r.Change, r.Bundle, r.Catalog, r.Channels = b.change(chosen), chosen.bundle, chosen.catalog.Name, chosen.channels
	r.MaxOpenShiftVersion = maxOpenShift(chosen.bundle)
	if r.MaxOpenShiftVersion != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("bundle %s supports OpenShift up to %s: while it is installed, the cluster cannot be updated to a later minor version",
			chosen.bundle.Name, r.MaxOpenShiftVersion))
	}
	b.leave(r, chosen)
	if !b.trial {
		r.Held = b.held(chosen)
	}
	return r
}

func (b *builder) change(to *candidate) Change {
	if b.in.Installed == nil {
		return Install
	}
	order := to.version.Compare(b.from())
	switch {
	case order < 0:
		return Downgrade
	case order == 0 && b.isInstalled(to):
		return Stay
	}
	return Upgrade
}

func (b *builder) verdicts() []Candidate {
	out := make([]Candidate, len(b.candidates))
	for i, c := range b.candidates {
		out[i] = Candidate{Name: c.bundle.Name, Version: c.bundle.WrittenVersion(), Catalog: c.catalog.Name, Channels: c.all, Deprecated: c.deprecated()}
		for _, why := range c.refusals {
			out[i].Refused = append(out[i].Refused, why.origin.Text)
		}
	}
	return out
}
