package plan

import (
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogset"
)

// Result is the decision for a namespace: one Group for each set of Subscriptions that depend on each other. It can be asked why and
// why not.
type Result struct {
	Groups []Group

	b     *builder
	parts []part // solved, in the order of their groups
}

// Group is the decision for Subscriptions that had to be decided together. Either Err is nil and Choices lists what to install
// (nothing, when all is as it should be), or Err says why there is no answer.
type Group struct {
	// Subscriptions are the names of the requests in the group, in order.
	Subscriptions []string
	// Installed names, by Subscription, the operator that it stands for, also when that was taken over just now. A Subscription without
	// operator is not in it.
	Installed map[string]string
	// Choices are the bundles to install, providers before those that need them.
	Choices []Choice
	// Held are the newer or otherwise preferred versions that could not be had, and why.
	Held []Held
	// Catalogs are the digests of the catalogs whose content the decision rests on.
	Catalogs map[catalogset.Ref]string
	// Record is what the decision was made on, and its outcome.
	Record Record
	// Err is a *Conflict or a *resolve.BudgetExceeded.
	Err error
}

// Choice is a bundle to install.
type Choice struct {
	Bundle  *catalog.BundleInfo
	Catalog catalogset.Ref
	Channel string
	// Replaces is the installed operator that the bundle takes over from; empty for a first installation.
	Replaces string
	// Subscriptions are the requests that the bundle answers; none when it is there because another bundle needs it.
	Subscriptions []string
	// Because is what brought the bundle in, and the rule that preferred it.
	Because Because
	// Deprecations are what the catalog says of the package, the channel and the bundle, as far as they are deprecated.
	Deprecations []string
}

// Because is why something is in the answer.
type Because struct {
	// Asker is what needs it: "subscription x", "bundle x.v1.0.0" or "clusterserviceversion x.v1.0.0"; empty for what is there anyway.
	Asker string `json:"asker,omitempty"`
	// Need is the need that it meets, as a sentence.
	Need string `json:"need"`
	// Rule decided between it and Over, the candidate that comes after it.
	Rule Rule   `json:"rule,omitempty"`
	Over string `json:"over,omitempty"`
}

// Held is something that is wanted more than what was chosen in its place, or newer than what stays.
type Held struct {
	// Asker is whose need it is: a Subscription or a bundle, as in Because.
	Asker string `json:"asker"`
	// Subscription is the name of the request, when it is one.
	Subscription string `json:"subscription,omitempty"`
	// Wanted is the name of what cannot be had; empty when it cannot be named, as there is no way to anything newer.
	Wanted string `json:"wanted,omitempty"`
	// Instead is the name of what was chosen, or stays, in its place.
	Instead string `json:"instead,omitempty"`
	// Field is the place where somebody asked for it to be held back; empty when that follows from the content of the catalogs.
	Field string `json:"field,omitempty"`
	// Reason tells what holds it back in one sentence; Conflict, if any, in full.
	Reason   string    `json:"reason"`
	Conflict *Conflict `json:"conflict,omitempty"`
}
