package crd

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// How many pages of objects a pass reads. What does not stand in the way is not worth more than a sample.
const (
	pagesOfPass   = 20
	pagesOfSample = 4
)

// checkedFor is how long objects that were all found valid are taken to be so still, while other things keep an InstallPlan waiting.
const checkedFor = time.Minute

// Objects are the stored objects of a CRD that an InstallPlan replaces, as far as they have been read. They are kept between passes.
type Objects struct {
	about string
	scan  *Scan
	at    time.Time // of the last read
}

// For returns the objects for an upgrade: o itself if it is about the same one, else objects of which none has been read.
func (o *Objects) For(u Upgrade) (*Objects, error) {
	step, err := about(u.Live, u.Wanted)
	if err != nil {
		return nil, err
	}
	if step = fmt.Sprintf("%s %v", step, u.Exempted); o != nil && o.about == step {
		return o, nil
	}
	return &Objects{about: step}, nil
}

// Read reports whether objects have been read at all.
func (o *Objects) Read() bool { return o.scan != nil }

// Concerns reports whether an upgrade does anything to stored objects.
func (v Verdict) Concerns() bool {
	return len(v.Changed)+len(v.Dropped) > 0 || v.Prunes || v.Unconverted
}

// Advance reads as many objects as a pass may. What all of them came to is read again only when there is reason to.
func (o *Objects) Advance(ctx context.Context, reader client.Reader, u Upgrade, v Verdict, now time.Time) error {
	if o.scan != nil && o.scan.Done() {
		keep, err := o.holds(ctx, v, now)
		if err != nil || keep {
			return err
		}
		o.scan = nil
	}
	if o.scan == nil {
		scan, err := NewScan(reader, u.Live, u.Wanted, v.Changed, v.Dropped)
		if err != nil {
			return err
		}
		o.scan = scan
	}
	count := pagesOfPass
	if !v.Thorough() {
		count = pagesOfSample
	}
	err := o.scan.Advance(ctx, count)
	o.at = now
	return err
}

// holds reports whether a complete scan still holds: as long as one of the objects that stood in the way does, or for a while when none did.
func (o *Objects) holds(ctx context.Context, v Verdict, now time.Time) (bool, error) {
	if (v.Unconverted || len(v.Dropped) > 0) && o.scan.Unread != "" {
		return false, nil // what converts the objects may have been repaired
	}
	if still, err := o.scan.stillBlocks(ctx, v.Keeps); still || err != nil {
		return still, err
	}
	blocked := o.scan.Invalid > 0 || o.scan.Written > 0 || v.Keeps && o.scan.Losing > 0
	return !blocked && now.Sub(o.at) < checkedFor, nil
}

// Conclude returns what the objects that were read say of the upgrade: what refuses it, what is only reported, and, if more objects have to be read
// before, what is waited for. Every upgrade keeps its objects valid; that they lose nothing is what strict namespaces ask for, and what a CRD without an
// operator asks of the one that adopts it.
func (o *Objects) Conclude(u Upgrade, v Verdict) (refused, warnings []Finding, waiting string) {
	scan := o.scan
	switch {
	case v.Unconverted && scan.Unread != "":
		return []Finding{Unreadable(u, scan.Unread)}, nil, ""
	case len(v.Dropped) > 0 && scan.Unread != "":
		return []Finding{UnreadWriters(u, v.Dropped, scan.Unread)}, nil, ""
	case v.Thorough() && !scan.Done():
		return nil, nil, fmt.Sprintf("CustomResourceDefinition %s: its objects are compared with the new schema, %d so far", u.Wanted.Name, scan.Objects)
	}
	sort := func(f Finding, refuse bool) {
		if refuse {
			refused = append(refused, f)
		} else {
			warnings = append(warnings, f)
		}
	}
	if scan.Invalid > 0 {
		sort(Existing(u, scan.Invalid, scan.Objects, texts(scan.Sample)), v.Binding)
	}
	if scan.Losing > 0 {
		sort(Losing(u, scan.Losing, scan.Objects, texts(scan.Losses)), v.Keeps)
	}
	if scan.Written > 0 {
		sort(LastWritten(u, v.Dropped, scan.Written, scan.Objects, texts(scan.Writes)), true)
	}
	if scan.Unread != "" {
		sort(Unreadable(u, scan.Unread), false)
	}
	return refused, warnings, ""
}

func texts[T fmt.Stringer](all []T) []string {
	out := []string{}
	for _, one := range all {
		out = append(out, one.String())
	}
	return out
}
