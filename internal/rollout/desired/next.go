package desired

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/version"
)

// Settles is how long a rollout continues when catalogs offer something else by then: to replace an upgrade halfway every time that a catalog is
// published would be worse than to finish it. A change of the ClusterExtension does not wait.
const Settles = 5 * time.Minute

// Observed is what the cluster has.
type Observed struct {
	Revisions revision.History
	// Providers are those of Providers; none where they are not known.
	Providers []registryv1.CertificateProvider
	// Rules say when an upgrade may begin.
	Rules schedule.Rules
}

// Offer is the decision about the bundle of an extension, by internal/resolution.
type Offer struct {
	// Result is the decision; nil where the catalogs were not asked.
	Result *resolution.ExtensionResult
	// Conflict is why there is no solution; nil when there is one.
	Conflict *resolution.Conflict
	// Range is the range of versions that was asked for, and Catalogs are those that were asked.
	Range    string
	Catalogs []resolution.Catalog
}

// Action is the kind of a step.
type Action string

// The actions.
const (
	// Stay changes nothing, because nothing can be decided.
	Stay Action = "Stay"
	// Keep changes nothing, because the newest revision is of the target.
	Keep Action = "Keep"
	// Wait writes a revision of the target later: a rollout is finished first.
	Wait Action = "Wait"
	// Write writes a revision of the target.
	Write Action = "Write"
	// Refuse writes nothing until something changes.
	Refuse Action = "Refuse"
)

// Step is what comes next for an extension.
type Step struct {
	Action Action
	// Reason explains the action to people, in a few words.
	Reason string
	// Target is what the revision is, or would be, made of; nil where that is not known.
	Target *Target
	// Inputs identify what the revision is made from, and Provider issues its serving certificates.
	Inputs   string
	Provider registryv1.CertificateProvider
	// After is how long to wait.
	After time.Duration
	// Err is the refusal.
	Err error
	// Upgrade is the upgrade that a revision of the target begins; nil for a first installation, a repair, and the way back.
	Upgrade *schedule.Upgrade
	// Held is why that upgrade waits, and until when; nil where it may begin. All that comes before the revision is done meanwhile.
	Held *schedule.Held
	// Otherwise is the step where the target, a rollback, cannot be had: a blocked rollback must not block the repair. Nil is none.
	Otherwise *Step
}

// Next returns the next step of an extension.
func Next(ext *olmv1.ClusterExtension, in Observed, offer Offer, now time.Time) Step {
	step := in.next(ext, offer, now)
	for at := &step; at != nil; at = at.Otherwise {
		if at.Action != Write {
			continue
		}
		if at.Upgrade = in.upgrade(ext, at.Target); at.Upgrade != nil {
			at.Held = schedule.Judge(now, *at.Upgrade)
		}
	}
	return step
}

// upgrade is what a revision of a target would begin; nil where that is no upgrade. One that rolls out has begun, whatever the configuration is by now, and an
// earlier revision is repeated because a rollout has failed, or because a person asks for it.
func (in Observed) upgrade(ext *olmv1.ClusterExtension, t *Target) *schedule.Upgrade {
	installed := in.Revisions.Installed()
	if t.Source != nil || installed == nil || t.sameBundle(installed) || t.sameBundle(in.Revisions.Newest()) {
		return nil
	}
	return &schedule.Upgrade{Object: olmv1.ClusterExtensionKind + " " + ext.Name, Namespace: ext.Spec.Namespace, Annotations: ext.Annotations, Bundle: t.Name, Version: t.Version, Rules: in.Rules}
}

// sameBundle reports whether a revision is of the bundle of the target, from the same image.
func (t *Target) sameBundle(r *olmv1.ClusterObjectSet) bool {
	return t.Name == r.Annotations[olmv1.BundleNameKey] && t.Image == r.Annotations[olmv1.BundleReferenceKey]
}

func (in Observed) next(ext *olmv1.ClusterExtension, offer Offer, now time.Time) Step {
	newest, installed := in.Revisions.Newest(), in.Revisions.Installed()
	if text, ok := ext.Annotations[RollbackToKey]; ok {
		t, err := pinned(ext, in.Revisions, text)
		if err != nil {
			return Step{Action: Refuse, Reason: "the revision to roll back to is not known", Err: err}
		}
		return in.toward(ext, t, "annotation "+RollbackToKey+" asks for revision "+text)
	}
	offered, reason := offer.target(in.Revisions)
	switch {
	case revision.RollsBack(ext) && newest != nil && installed != nil && newest != installed && revision.Failed(newest) &&
		newest.Annotations[CopyKey] == "" && !asksForOther(ext, newest) && (offered == nil || !adoptsSince(ext, newest)) &&
		newest.Annotations[InputsKey] != installed.Annotations[InputsKey]: // otherwise it repeats what is installed, and trusts other certificates
		t := repeated(installed)
		t.Undone = newest
		step := in.toward(ext, t, fmt.Sprintf("the rollout of revision %s has failed", newest.Name))
		if offered != nil && offered.Name != newest.Annotations[olmv1.BundleNameKey] {
			otherwise := in.toward(ext, offered, reason)
			step.Otherwise = &otherwise
		}
		return step
	case offered == nil:
		return Step{Action: Stay, Reason: reason}
	}
	step := in.toward(ext, offered, reason)
	settled := newest == nil || newest == installed || revision.Failed(newest) || asksForOther(ext, newest) || offered.Name == newest.Annotations[olmv1.BundleNameKey]
	if settled {
		return step
	}
	if left := newest.CreationTimestamp.Add(Settles).Sub(now); left > 0 {
		step.Action, step.After, step.Err = Wait, left, nil
		step.Reason = fmt.Sprintf("revision %s is rolling out", newest.Name)
	}
	return step
}

// toward is the step that leads to a target.
func (in Observed) toward(ext *olmv1.ClusterExtension, t *Target, reason string) Step {
	newest := in.Revisions.Newest()
	provider := Provider(in.Providers, newest)
	step := Step{Action: Write, Reason: reason, Target: t, Provider: provider, Inputs: t.inputs(ext, provider)}
	switch {
	case t.is(newest, step.Inputs) && adoptsSince(ext, newest):
		step.Reason = "annotation " + revision.AdoptKey + " asks to adopt what revision " + newest.Name + " may not"
	case t.is(newest, step.Inputs):
		step.Action, step.Reason = Keep, "the newest revision is of "+t.Name
	case t.Source == nil && revision.RollsBack(ext) && newest != nil && newest.Annotations[FailedKey] != "" && newest.Annotations[FailedKey] == step.Inputs &&
		!adoptsSince(ext, in.failed()):
		step.Action = Refuse
		step.Err = revision.Blocked(fmt.Errorf("the rollout of revision %s failed, and revision %s rolled back to what was installed before; to try again, change the "+
			"spec of the ClusterExtension or remove its annotation %s", newest.Annotations[FailedNameKey], newest.Name, revision.OnFailureKey))
	}
	return step
}

// target is what catalogs offer or, where that is nothing, what is kept with another configuration: that is no matter of theirs. It is what rolls
// out or else what is installed, as long as that is in the range of versions.
func (o Offer) target(revisions revision.History) (*Target, string) {
	switch {
	case o.Result == nil && o.Conflict == nil:
		return nil, "nothing is decided"
	case o.Conflict == nil && o.Result.Bundle != nil:
		// The target of a decision.
		r := o.Result
		catalogs := o.Catalogs
		t := &Target{Bundle: Bundle{Package: r.Bundle.Package, Name: r.Bundle.Name, Version: r.Bundle.VersionText, Image: r.Bundle.Image}, info: r.Bundle}
		if release := r.Bundle.Version.Release.String(); release != "" {
			t.Release = &release
		}
		if text, err := json.Marshal(r.Bundle.Properties); err == nil && len(r.Bundle.Properties) > 0 && len(text) <= MaxProperties {
			t.properties = string(text)
		}
		for i := range catalogs {
			if catalogs[i].Name == r.Catalog {
				t.index, t.catalogImage = catalogs[i].Index, catalogs[i].Image
				if t.index != nil {
					t.offeredBy = r.Catalog + "@" + t.index.Digest()
				}
			}
		}
		if t.Image == "" && t.index != nil {
			t.Content = t.index.Digest()
		}
		return t, "catalog " + o.Result.Catalog + " offers " + o.Result.Bundle.Name
	}
	for _, r := range []*olmv1.ClusterObjectSet{revisions.Newest(), revisions.Installed()} {
		if r == nil {
			continue
		}
		var release *string
		if text, ok := r.Annotations[olmv1.BundleReleaseKey]; ok {
			release = &text
		}
		is, err := resolution.ParseInstalled(r.Annotations[olmv1.BundleNameKey], r.Annotations[olmv1.BundleVersionKey], release)
		if err != nil {
			continue
		}
		if within, err := version.ParseConstraint(o.Range); o.Range == "" || err == nil && within.Contains(is.Version.Version) {
			return kept(r), "no catalog offers another version than " + is.Name
		}
	}
	return nil, "no catalog offers a version"
}

// pinned is the revision that a person rolls back to.
func pinned(ext *olmv1.ClusterExtension, revisions revision.History, text string) (*Target, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, revision.Misconfigured(fmt.Errorf("annotation %s is %q, which is not the number of a revision", RollbackToKey, text))
	}
	if r := revisions.Numbered(n); r != nil {
		return repeated(r), nil
	}
	if newest := revisions.Newest(); newest != nil && newest.Annotations[CopyKey] == revision.Name(ext.Name, n) {
		return repeated(newest), nil // it was rolled back to before it was removed as too old
	}
	return nil, revision.Misconfigured(fmt.Errorf("annotation %s asks for revision %d, which is not there: the %d newest are kept; correct or remove the annotation",
		RollbackToKey, n, revision.Retention))
}

// failed is the revision that the newest one has rolled back, or, where that is removed as too old, the newest one.
func (in Observed) failed() *olmv1.ClusterObjectSet {
	newest := in.Revisions.Newest()
	for i := range in.Revisions {
		if in.Revisions[i].Name == newest.Annotations[FailedNameKey] {
			return &in.Revisions[i]
		}
	}
	return newest
}

// adoptsSince reports whether an extension was allowed to adopt what exists since a revision was made for it.
func adoptsSince(ext *olmv1.ClusterExtension, r *olmv1.ClusterObjectSet) bool {
	return revision.Adopts(ext) && r.Spec.CollisionProtection == olmv1.CollisionProtectionPrevent
}

// asksForOther reports whether the extension was changed since a revision was made for it. An annotation raises no generation.
func asksForOther(ext *olmv1.ClusterExtension, r *olmv1.ClusterObjectSet) bool {
	generation, err := strconv.ParseInt(r.Annotations[GenerationKey], 10, 64)
	if err != nil {
		generation = 0
	}
	return generation != ext.Generation || r.Annotations[snapshot.BundleImageKey] != ext.Annotations[snapshot.BundleImageKey]
}
