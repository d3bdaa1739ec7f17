package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
)

// How many pages of objects a pass reads. What does not stand in the way is not worth more than a sample.
const (
	pagesOfPass   = 20
	pagesOfSample = 4
)

// sampleTime bounds how long a pass reads objects that do not stand in the way.
const sampleTime = 5 * time.Second

// checkedFor is how long objects that were all found valid are taken to be so still, while other things keep an InstallPlan waiting.
const checkedFor = time.Minute

// Objects are the stored objects of a CRD that an InstallPlan replaces, as far as they have been read. They are kept between passes.
type Objects struct {
	about string
	scan  *Scan
	at    time.Time // of the last read
}

// For returns the objects for an upgrade: o itself if it is about the same one, else objects of which none has been read.
func (o *Objects) For(u Change) (*Objects, error) {
	step, err := about(u.Live, u.Desired)
	if err != nil {
		return nil, err
	}
	if step = fmt.Sprintf("%s %v", step, u.Exempted); o != nil && o.about == step {
		return o, nil
	}
	return &Objects{about: step}, nil
}

// judge reads as many objects as a pass may, and adds to the verdict what they came to. A sample that cannot be read blocks nothing.
func (o *Objects) judge(ctx context.Context, stored Stored, u Change, v *Verdict) error {
	thorough, count := v.Thorough(), pagesOfPass
	if !thorough {
		count = pagesOfSample
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, sampleTime)
		defer cancel()
	}
	switch err := o.advance(ctx, stored, u, v, count); {
	case err == nil, !thorough && errors.Is(err, context.DeadlineExceeded) && o.scan != nil:
		o.conclude(u, v)
	case thorough:
		return err
	default:
		v.Unread = true
	}
	return nil
}

// advance reads some pages. What all objects came to is read again only when there is reason to.
func (o *Objects) advance(ctx context.Context, stored Stored, u Change, v *Verdict, count int) error {
	if scan := o.scan; scan != nil && scan.Done() {
		// It still holds as long as one of the objects that stood in the way does, or for a while when none did; but what converts the objects
		// may have been repaired.
		if !v.Unconverted && len(v.Dropped) == 0 || scan.Unread == "" {
			still, err := scan.stillBlocks(ctx, v.Keeps)
			blocked := scan.Invalid > 0 || scan.Written > 0 || v.Keeps && scan.Losing > 0
			if err != nil || still || !blocked && stored.Now.Sub(o.at) < checkedFor {
				return err
			}
		}
		o.scan = nil
	}
	if o.scan == nil {
		scan, err := NewScan(stored.Reader, u.Live, u.Desired, v.Changed, v.Dropped)
		if err != nil {
			return err
		}
		o.scan = scan
	}
	err := o.scan.Advance(ctx, count)
	o.at = stored.Now
	return err
}

// conclude adds what the objects that were read say of the upgrade: what refuses it, what is only reported, and, if more objects have to be read
// before, what is waited for. Every upgrade keeps its objects valid; that they lose nothing is what strict namespaces ask for, and what a CRD without an
// operator asks of the one that adopts it.
func (o *Objects) conclude(u Change, v *Verdict) {
	scan := o.scan
	switch v.Read = scan.Objects; {
	case v.Unconverted && scan.Unread != "":
		v.Refused = append(v.Refused, unreadable(u, scan.Unread))
		return
	case len(v.Dropped) > 0 && scan.Unread != "":
		// Report that it is unknown whether objects were last written in a version that goes although it is served, and why.
		f := unreadable(u, scan.Unread)
		f.Check, f.Version = ServedVersionRemoval, strings.Join(v.Dropped, ", ")
		f.Remedy = fmt.Sprintf("the new one does not have version %s, which is served, and objects may have been written in it last: repair what converts them, "+
			"or let the version go: %s", f.Version, u.exemption(ServedVersionRemoval))
		v.Refused = append(v.Refused, f)
		return
	case v.Thorough() && !scan.Done():
		v.Waiting = fmt.Sprintf("CustomResourceDefinition %s: its objects are compared with the new schema, %d so far", u.Desired.Name, scan.Objects)
		return
	}
	note := func(f Finding, refuse bool) {
		if refuse {
			v.Refused = append(v.Refused, f)
		} else {
			v.Noticed = append(v.Noticed, f)
		}
	}
	if scan.Invalid > 0 {
		note(existing(u, scan.Invalid, scan.Objects, texts(scan.Sample)), v.Binding)
	}
	if scan.Losing > 0 {
		note(Finding{CRD: u.Desired.Name, Check: StoredContent,
			What: fmt.Sprintf("risk of data loss updating %q: the schema of version %s, which objects are stored in from now on, does not know all of their fields: "+
				"%d of %d objects lose some with the next write: %s", u.Desired.Name, StorageVersion(u.Desired), scan.Losing, scan.Objects, safetext.Sample(texts(scan.Losses), scan.Losing, "; ")),
			Remedy: "keep a copy of these objects, and move what the fields hold to where the new version has it"}, v.Keeps)
	}
	if scan.Written > 0 {
		// Report objects whose last writer used a version that goes although it is served: how many of those that were read, and the first
		// of them.
		first := texts(scan.Writes)
		names := strings.Join(v.Dropped, ", ")
		note(Finding{CRD: u.Desired.Name, Check: ServedVersionRemoval, Version: names,
			What: fmt.Sprintf("CustomResourceDefinition %s: the new one does not have version %s, which is served: %d of %d objects were last written in it, so its clients would fail: %s",
				u.Desired.Name, names, scan.Written, scan.Objects, safetext.Sample(first, scan.Written, "; ")),
			Remedy: fmt.Sprintf("upgrade first to a bundle whose CRD has the version with served: false, or write these objects in another version, or let the version go: %s",
				u.exemption(ServedVersionRemoval))}, true)
	}
	if scan.Unread != "" {
		note(unreadable(u, scan.Unread), false)
	}
}

func texts[T fmt.Stringer](all []T) []string {
	out := []string{}
	for _, one := range all {
		out = append(out, one.String())
	}
	return out
}

// existing says that objects which are stored already become invalid: how many of those that were checked, and the first of them.
func existing(u Change, invalid, read int, first []string) Finding {
	remedy := "change these objects so that they meet both schemas"
	if owners := slices.DeleteFunc(slices.Clone(u.Others), func(o Operator) bool { return len(o.Owns) == 0 }); len(owners) > 0 {
		remedy += fmt.Sprintf(", or remove %s, which also owns the CustomResourceDefinition", list(owners))
	}
	if !u.exempts(ExistingObjects) && !converts(u.Desired) {
		remedy += ", or let them become invalid: " + u.exemption(ExistingObjects)
	}
	return Finding{CRD: u.Desired.Name, Check: ExistingObjects, Remedy: remedy,
		What: fmt.Sprintf("error validating existing CRs against new CRD's schema for %q: updated validation is too restrictive: "+
			"%d of %d objects become invalid: %s", u.Desired.Name, invalid, read, safetext.Sample(first, invalid, "; "))}
}

// unreadable says that objects cannot be compared with the new schema, and why.
func unreadable(u Change, why string) Finding {
	f := Finding{CRD: u.Desired.Name, Check: ExistingObjects, What: fmt.Sprintf("objects of CustomResourceDefinition %s could not be compared with the new schema: %s", u.Desired.Name, why)}
	if converts(u.Live) && !converts(u.Desired) {
		f.Check = ConversionRemoval
		f.Remedy = "the new one does without this webhook, so its objects must be readable before it goes: mend the webhook of the operator that runs, or delete the objects that it does not convert"
	}
	return f
}
