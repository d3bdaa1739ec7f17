package crd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/messages"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Change is what becomes of a CRD: Live is what the cluster has, nil where the CRD is installed; Desired is what replaces it, nil where it is removed.
// Neither is changed.
type Change struct {
	Live, Desired *definition

	// Policy has the rules of ClusterExtensions applied; nil is for those of InstallPlans.
	Policy *Policy
	// Back reports that Desired is the definition of an earlier revision.
	Back bool
	// Bundle is the one that lacks a CRD which is removed, for messages.
	Bundle string
	// Own are stored objects that are removed anyway, and stand in no way of a removal.
	Own map[client.ObjectKey]bool

	// By is the operator that brings the CRD with an InstallPlan.
	By Operator
	// Others are the operators that own or require the CRD, without the one that brings it and those that it replaces.
	Others []Operator
	// Joins reports that neither that operator nor one that it replaces has owned the CRD so far.
	Joins bool
	// Strict asks of a CRD with a single owner what is asked of one with several.
	Strict bool
	// Unowned asks that every stored object stays valid and loses no field: no operator that runs answers for the objects of the CRD.
	Unowned bool
	// Exempted are the checks that the annotation of the live CRD lets upgrades pass.
	Exempted []Exempted
}

// Count returns how many objects of a CRD are stored. atLeast: counting has stopped there, and there may be more.
type Count func(ctx context.Context, reader client.Reader, crd *definition) (n int64, atLeast bool, err error)

// Stored is how a judgement reads stored objects. The zero value reads none: the rules alone decide.
type Stored struct {
	// Reader must not lag behind: a cache may not be used. Nil reads nothing.
	Reader client.Reader
	// Count counts objects; nil has the Reader count them.
	Count Count
	// Backs remember the ways back that objects block; nil is for those who ask once.
	Backs *Backs
	// Recall has only what is remembered of ways back decide.
	Recall bool
	// Objects are read over several passes, some pages each time, as of Now; they are for InstallPlans.
	Objects *Objects
	Now     time.Time
}

// Verdict is what the rules and the stored objects say of a change.
type Verdict struct {
	// Refused are the findings that block the change. With them, nothing else is decided.
	Refused []Finding
	// Findings are all findings of the checks of schemas, exempted ones included.
	Findings []Finding
	// Proven are those among them that Read stored objects have proven to be harmless.
	Proven []Finding
	Read   int
	// Warnings are what the rules let pass, and Noticed what the stored objects came to without blocking the change.
	Warnings, Noticed []Finding
	// Reasons are the refusals for people, each with its remedy, and Err is all of them; nil when the change may be made.
	Reasons []string
	Err     error
	// Stored describes the objects that a removal would delete; empty is none.
	Stored string
	// Unread reports that stored objects would decide, and were not read.
	Unread bool
	// Waiting is what is waited for before stored objects have decided; empty is nothing.
	Waiting string

	// Leaving are the versions that objects may be stored in and cannot be read from any more: a Migration must rewrite the objects before.
	Leaving []string
	// Unconverted reports that a webhook goes which converts the objects.
	Unconverted bool
	// Rewrites describes which stored objects are rewritten before the change of a ClusterExtension; empty is none, or not read.
	Rewrites string

	// Changed are the versions in which existing objects may become invalid.
	Changed []string
	// Prunes reports that objects may lose fields that the new schema of what is stored does not know.
	Prunes bool
	// Binding reports whether objects that become invalid block the upgrade; otherwise they are warned of.
	Binding bool
	// Keeps reports whether objects that lose fields block the upgrade; otherwise they are warned of.
	Keeps bool
	// Dropped are served versions that go. Objects that were last written in one of them block the upgrade.
	Dropped []string
}

// Thorough reports whether every stored object has to be read before the upgrade; otherwise a sample is enough.
func (v *Verdict) Thorough() bool { return v.Binding || v.Keeps || len(v.Dropped) > 0 }

// Judge judges any change of a CRD, for both APIs: its installation, upgrade, rollback and removal. First the rules; where one fires that objects can
// answer, the stored objects; and which of them have to be rewritten before. An error is about the question, not an answer.
func Judge(ctx context.Context, c Change, stored Stored) (v Verdict, err error) {
	if stored.Count == nil {
		stored.Count = countStored
	}
	switch {
	case c.Live == nil:
	case c.Desired == nil:
		v, err = c.removal(ctx, stored)
	case c.Policy == nil:
		v, err = c.planned(ctx, stored)
	case c.Policy.None:
		v.Leaving, v.Unconverted = leaving(c.Live, c.Desired)
	case c.Back:
		v, err = c.back(ctx, stored)
	default:
		v.Findings = safety(c.Live, c.Desired, *c.Policy)
		v.Leaving, v.Unconverted = leaving(c.Live, c.Desired)
		if v.Refused = Blocking(v.Findings); len(v.Refused) > 0 {
			v.block(&UnsafeError{CRD: c.Live.Name, Findings: v.Refused})
		}
	}
	if c.Policy != nil && stored.Reader != nil && v.Err == nil && len(v.Leaving) > 0 {
		v.Rewrites = c.rewrites(ctx, stored, v)
	}
	return v, err
}

// rewrites describes the storage migration that precedes a change.
func (c Change) rewrites(ctx context.Context, stored Stored, v Verdict) string {
	n, atLeast, err := stored.Count(ctx, stored.Reader, c.Live)
	number := fmt.Sprintf("about %d custom resources", n)
	switch {
	case err != nil:
		number = fmt.Sprintf("an unknown number of custom resources (%s)", messages.Error(err))
	case n == 0:
		return ""
	case atLeast:
		number = fmt.Sprintf("at least %d custom resources", n)
	}
	why := "that version is removed"
	if v.Unconverted {
		why = "the webhook that converts them is removed"
	}
	return fmt.Sprintf("%s that may be stored as %s are rewritten as %s, because %s", number, strings.Join(v.Leaving, ", "), StorageVersion(c.Live), why)
}

// block notes why a change must not be made.
func (v *Verdict) block(reasons ...error) {
	for _, reason := range reasons {
		v.Reasons = append(v.Reasons, reason.Error())
	}
	v.Err = errors.Join(reasons...)
}

// planned judges the upgrade of an InstallPlan.
func (c Change) planned(ctx context.Context, stored Stored) (Verdict, error) {
	v := planRules(c)
	concerns := len(v.Changed)+len(v.Dropped) > 0 || v.Prunes || v.Unconverted
	switch {
	case len(v.Refused) > 0 || !concerns:
	case stored.Objects == nil:
		v.Unread = true
	default:
		if err := stored.Objects.judge(ctx, stored, c, &v); err != nil {
			return v, err
		}
	}
	var reasons []error
	for _, f := range v.Refused {
		reasons = append(reasons, errors.New(f.Sentence()))
	}
	v.block(reasons...)
	return v, nil
}

// removal judges the removal of a CRD: its stored objects would be deleted with it. Where they cannot be counted they are taken to be there, and the error
// says why.
func (c Change) removal(ctx context.Context, stored Stored) (v Verdict, err error) {
	n, atLeast, err := stored.Count(ctx, stored.Reader, c.Live)
	if err == nil && n > 0 && len(c.Own) > 0 {
		// The number is an estimate: less the own objects, it may be none although there are some.
		others, failed := besides(ctx, stored.Reader, c.Live, c.Own)
		if n, err = max(n-int64(len(c.Own)), 1), failed; err == nil && !others {
			n = 0
		}
	}
	switch {
	case err != nil:
		v.Stored = "it is not known whether it has custom resources: " + messages.Error(err)
	case n == 0:
		return v, nil
	default:
		v.Stored = "it has " + customResources(n, atLeast)
	}
	f := Finding{CRD: c.Live.Name, Check: Removal, What: fmt.Sprintf("bundle %s does not have it, so that it would be deleted, but %s", c.Bundle, v.Stored),
		Remedy: fmt.Sprintf("delete them if they are not needed, or let them be deleted with the CustomResourceDefinition: annotation %s: %s %s", ExemptionsKey, Removal, c.Live.Name)}
	v.Findings = []Finding{f}
	if c.Policy != nil {
		v.Findings = c.Policy.Exempt(v.Findings)
	}
	if v.Refused = Blocking(v.Findings); len(v.Refused) > 0 {
		v.block(fmt.Errorf("%w; %s", &UnsafeError{CRD: f.CRD, Findings: v.Refused}, f.Remedy))
	}
	return v, err
}

// Live reads a CRD; nil is none.
func Live(ctx context.Context, reader client.Reader, name string) (*definition, error) {
	live := &definition{}
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, live); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return live, nil
}

// Read converts the CRD of a bundle or a revision.
func Read(object *unstructured.Unstructured) (*definition, error) {
	out := &definition{}
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, out)
}
