package clusterextension

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// view is all that a status depends on.
type view struct {
	ext       *olmv1.ClusterExtension
	revisions revision.History
	outcome   *outcome
}

const nothingInstalled = "No bundle installed"

// status says how a ClusterExtension stands. Times move only where something else does.
func (v view) status(now time.Time) olmv1.ClusterExtensionStatus {
	stamp := metav1.Time{Time: now.Truncate(time.Second)}
	next := *v.ext.Status.DeepCopy()
	if seen := olmv1.NewAnnotationsSeen(v.ext.Annotations); seen != nil {
		olmv1.SetCondition(&next.Conditions, *seen, v.ext.Generation, stamp)
	} else {
		meta.RemoveStatusCondition(&next.Conditions, olmv1.TypeAnnotationsSeen)
	}
	if v.outcome.lost != nil { // it is not known what is installed; what was told of it before stays
		text := messages.Error(v.outcome.lost)
		for _, c := range append([]metav1.Condition{
			olmv1.NewCondition(olmv1.TypeInstalled, metav1.ConditionUnknown, olmv1.ReasonFailed, text),
			olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonRetrying, "retrying to get installed bundle: "+text),
		}, v.deprecations()...) {
			olmv1.SetCondition(&next.Conditions, c, v.ext.Generation, stamp)
		}
		v.judge(&next, stamp)
		return next
	}
	next.Install = v.install()
	next.ActiveRevisions = v.activeRevisions()
	conditions := []metav1.Condition{v.installed()}
	if !v.outcome.waits || v.outcome.problem != nil || v.outcome.made != nil {
		conditions = append(conditions, v.progressing())
	}
	if !v.outcome.leaving && !v.outcome.waits { // catalogs are not asked
		conditions = append(conditions, v.deprecations()...)
	}
	switch supported := v.support(now); {
	case supported != nil:
		conditions = append(conditions, olmv1.NewCondition(olmv1.TypeSupported, supported.Status, supported.Reason, supported.Message))
	case v.revisions.Installed() == nil:
		meta.RemoveStatusCondition(&next.Conditions, olmv1.TypeSupported)
	}
	if signature := v.signature(); signature != nil {
		conditions = append(conditions, *signature)
	} else if !v.outcome.leaving {
		meta.RemoveStatusCondition(&next.Conditions, olmv1.TypeSignatureVerified)
	}
	available := v.available()
	if available == nil {
		meta.RemoveStatusCondition(&next.Conditions, olmv1.TypeAvailable)
	} else {
		conditions = append(conditions, *available)
	}
	for _, c := range conditions {
		olmv1.SetCondition(&next.Conditions, c, v.ext.Generation, stamp)
	}
	v.judge(&next, stamp)
	return next
}

// install is the bundle of the newest revision that was rolled out.
func (v view) install() *olmv1.ClusterExtensionInstallStatus {
	r := v.revisions.Installed()
	if r == nil {
		return nil
	}
	b := olmv1.BundleMetadata{Name: resolution.StatusName(r.Annotations[olmv1.BundleNameKey]), Version: strings.TrimPrefix(r.Annotations[olmv1.BundleVersionKey], "v")}
	if release, ok := r.Annotations[olmv1.BundleReleaseKey]; ok {
		b.Release = &release
	}
	return &olmv1.ClusterExtensionInstallStatus{Bundle: b}
}

// activeRevisions has the installed one first, without conditions, then those that roll out.
func (v view) activeRevisions() []olmv1.RevisionStatus {
	var all []olmv1.RevisionStatus
	if r := v.revisions.Installed(); r != nil {
		all = append(all, olmv1.RevisionStatus{Name: r.Name})
	}
	for _, r := range v.revisions.Rolling() {
		s := olmv1.RevisionStatus{Name: r.Name}
		for _, kind := range []string{olmv1.TypeAvailable, olmv1.TypeProgressing} {
			if c := meta.FindStatusCondition(r.Status.Conditions, kind); c != nil {
				s.Conditions = append(s.Conditions, *c)
			}
		}
		all = append(all, s)
	}
	if made := v.outcome.made; made != nil && !slices.ContainsFunc(all, func(s olmv1.RevisionStatus) bool { return s.Name == made.Name }) {
		all = append(all, olmv1.RevisionStatus{Name: made.Name})
	}
	return all
}

// installed reports whether a bundle is installed. That an upgrade fails takes nothing away.
func (v view) installed() metav1.Condition {
	if r := v.revisions.Installed(); r != nil {
		what := r.Annotations[olmv1.BundleReferenceKey]
		if what == "" {
			what = r.Annotations[olmv1.BundleNameKey]
		}
		return olmv1.NewCondition(olmv1.TypeInstalled, metav1.ConditionTrue, olmv1.ReasonSucceeded, fmt.Sprintf("Installed bundle %s successfully", what))
	}
	reason := olmv1.ReasonFailed
	if rolling := v.revisions.Rolling(); v.outcome.made != nil || len(rolling) > 0 && !retrying(rolling[len(rolling)-1]) {
		reason = olmv1.ReasonAbsent
	}
	return olmv1.NewCondition(olmv1.TypeInstalled, metav1.ConditionFalse, reason, nothingInstalled)
}

// retrying reports whether a revision is in trouble that may pass.
func retrying(r *olmv1.ClusterObjectSet) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, olmv1.TypeProgressing)
	return c != nil && c.Reason == olmv1.ReasonRetrying
}

// available repeats what the installed revision says of its objects and, before there is one, the newest that rolls out.
func (v view) available() *metav1.Condition {
	r := v.revisions.Installed()
	if r == nil {
		r = v.revisions.Newest()
	}
	if r == nil {
		return nil
	}
	c := meta.FindStatusCondition(r.Status.Conditions, olmv1.TypeAvailable)
	if c == nil {
		return nil
	}
	mirrored := olmv1.NewCondition(olmv1.TypeAvailable, c.Status, c.Reason, c.Message)
	return &mirrored
}

const reached = "Desired state reached"

// progressing says what is worked on, what is in the way, or that there is nothing left to do.
func (v view) progressing() metav1.Condition {
	say := func(status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return olmv1.NewCondition(olmv1.TypeProgressing, status, reason, message)
	}
	o := v.outcome
	switch s := o.stopped(); {
	case s != nil:
		return say(metav1.ConditionFalse, s.Reason, textOf(s)+v.keeps())
	case o.problem != nil:
		return say(metav1.ConditionTrue, olmv1.ReasonRetrying, textOf(o.problem)+v.keeps())
	case o.conflict != nil:
		return say(metav1.ConditionTrue, olmv1.ReasonRetrying, strings.Join(append([]string{o.conflict.Error() + v.keeps()}, o.advice...), "\n"))
	case o.doing != "":
		return say(metav1.ConditionTrue, olmv1.ReasonRollingOut, o.doing)
	}
	r := v.revisions.Newest()
	if o.made != nil {
		r = o.made
	}
	if r == nil {
		return say(metav1.ConditionTrue, olmv1.ReasonRetrying, "there is no revision yet")
	}
	c := meta.FindStatusCondition(r.Status.Conditions, olmv1.TypeProgressing)
	switch {
	case c == nil:
		return say(metav1.ConditionTrue, olmv1.ReasonRollingOut, fmt.Sprintf("Revision %s is rolling out.", r.Annotations[olmv1.BundleVersionKey]))
	case c.Status == metav1.ConditionTrue && c.Reason == olmv1.ReasonSucceeded:
		return say(metav1.ConditionTrue, olmv1.ReasonSucceeded, strings.Join(slices.Concat([]string{reached}, o.waiting(), o.unmet, o.notes, o.leftOut, o.advice), "\n"))
	}
	return say(c.Status, c.Reason, strings.Join(append([]string{c.Message}, o.waiting()...), "\n"))
}

// waiting says which upgrade waits for its window.
func (o *outcome) waiting() []string {
	if o.held == nil {
		return nil
	}
	return []string{o.held.Message}
}

// textOf is the text of a problem, the same for the same problem. One that explains itself in several lines is told in full.
func textOf(err error) string {
	if text := err.Error(); strings.Contains(text, "\n") {
		return text
	}
	return messages.Error(err)
}

// keeps says what keeps working in spite of a problem.
func (v view) keeps() string {
	r := v.revisions.Installed()
	if r == nil {
		return ""
	}
	return fmt.Sprintf("\nbundle %s stays installed and is looked after meanwhile", r.Annotations[olmv1.BundleNameKey])
}

const (
	deprecationUnknown = "deprecation status unknown: catalog data unavailable"
	noBundleYet        = "no bundle installed yet"
)

// deprecations repeat what the catalog says about the package, the channels that are followed and the installed bundle.
func (v view) deprecations() []metav1.Condition {
	var known bool
	var pkg, channels, bundle []string
	if r := v.outcome.resolved; r != nil && r.Deprecation != nil {
		known = true
		pkg, bundle = []string{r.Deprecation.Package}, []string{r.Deprecation.Installed}
		for _, name := range slices.Sorted(maps.Keys(r.Deprecation.Channels)) {
			channels = append(channels, r.Deprecation.Channels[name])
		}
	}
	say := func(kind, not string, messages []string) metav1.Condition {
		messages = slices.DeleteFunc(slices.Clone(messages), func(text string) bool { return text == "" })
		switch {
		case !known:
			return olmv1.NewCondition(kind, metav1.ConditionUnknown, olmv1.ReasonDeprecationStatusUnknown, deprecationUnknown)
		case len(messages) > 0:
			return olmv1.NewCondition(kind, metav1.ConditionTrue, olmv1.ReasonDeprecated, strings.Join(messages, "\n"))
		}
		return olmv1.NewCondition(kind, metav1.ConditionFalse, olmv1.ReasonNotDeprecated, not)
	}
	ofBundle := say(olmv1.TypeBundleDeprecated, "bundle not deprecated", bundle)
	if v.revisions.Installed() == nil {
		ofBundle = olmv1.NewCondition(olmv1.TypeBundleDeprecated, metav1.ConditionUnknown, olmv1.ReasonAbsent, noBundleYet)
	}
	return []metav1.Condition{
		say(olmv1.TypeDeprecated, "not deprecated", slices.Concat(pkg, channels, bundle)),
		say(olmv1.TypePackageDeprecated, "package not deprecated", pkg),
		say(olmv1.TypeChannelDeprecated, "channel not deprecated", channels),
		ofBundle,
	}
}

// support reports whether what is installed is supported; nil when nothing is, or catalogs were not asked.
func (v view) support(now time.Time) *resolution.SupportVerdict {
	r, decided := v.revisions.Installed(), v.outcome.resolved
	if r == nil || decided == nil || decided.Deprecation == nil {
		return nil
	}
	name := r.Annotations[olmv1.BundleNameKey]
	is, err := resolution.ParseInstalled(name, r.Annotations[olmv1.BundleVersionKey], nil)
	if err != nil {
		return nil
	}
	verdict := resolution.JudgeSupport(name, is.Version, decided.Deprecation.Catalog, decided.Deprecation.Lifecycle, decided.Deprecation.Unreadable, now)
	return &verdict
}
