package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
)

// SchemaLifecycles is the schema of objects that say how long the versions of a package are supported.
const SchemaLifecycles = "io.openshift.operators.lifecycles.v1alpha1"

// Limits of what is read of one object.
const (
	maxLifecycleVersions = 500
	maxLifecyclePhases   = 50
	maxPhaseName         = 100
	earliestYear         = 1970
)

// Lifecycle is what a catalog says about the support of a package. The zero Lifecycle says nothing.
type Lifecycle struct{ Versions []LifecycleVersion }

// LifecycleVersion is about the versions that begin with a name such as "4.18", which has one to three numbers.
type LifecycleVersion struct {
	Name   string
	Phases []LifecyclePhase // by their beginning
}

// LifecyclePhase is a phase of support. It is over at End, not before: a phase whose last day is written as a date ends with that day, in UTC.
// A zero Start or End means that it is open.
type LifecyclePhase struct {
	Name       string
	Start, End time.Time
}

// lifecycle is the object as it is written.
type lifecycle struct {
	Versions []struct {
		Name   string `json:"name"`
		Phases []struct {
			Name  string `json:"name"`
			Start string `json:"startDate"`
			End   string `json:"endDate"`
		} `json:"phases"`
	} `json:"versions"`
}

// ParseLifecycle reads an object of SchemaLifecycles. Fields that are not known are passed over.
func ParseLifecycle(object []byte) (Lifecycle, error) {
	var in lifecycle
	if err := json.Unmarshal(rawjson.AppendCanonical(nil, object), &in); err != nil {
		return Lifecycle{}, errors.New(typeMessage("", err))
	}
	if len(in.Versions) > maxLifecycleVersions {
		return Lifecycle{}, fmt.Errorf("versions has %d items; it may have %d", len(in.Versions), maxLifecycleVersions)
	}
	var out Lifecycle
	for i, v := range in.Versions {
		if _, err := lifecycleNumbers(v.Name); err != nil {
			return Lifecycle{}, fmt.Errorf("versions[%d].name: %w", i, err)
		}
		if len(v.Phases) > maxLifecyclePhases {
			return Lifecycle{}, fmt.Errorf("versions[%d].phases has %d items; it may have %d", i, len(v.Phases), maxLifecyclePhases)
		}
		read := LifecycleVersion{Name: v.Name}
		for j, p := range v.Phases {
			phase := LifecyclePhase{Name: safetext.Line(strings.TrimSpace(p.Name), maxPhaseName)}
			var err error
			if phase.Name == "" {
				err = errors.New("name is empty")
			} else if phase.Start, err = lifecycleDate("startDate", p.Start, false); err == nil {
				phase.End, err = lifecycleDate("endDate", p.End, true)
			}
			if err == nil && !phase.End.IsZero() && !phase.Start.Before(phase.End) {
				err = fmt.Errorf("endDate %s is before startDate %s", safetext.Quote(p.End), safetext.Quote(p.Start))
			}
			if err != nil {
				return Lifecycle{}, fmt.Errorf("versions[%d].phases[%d]: %w", i, j, err)
			}
			read.Phases = append(read.Phases, phase)
		}
		slices.SortStableFunc(read.Phases, func(a, b LifecyclePhase) int { return a.Start.Compare(b.Start) })
		out.Versions = append(out.Versions, read)
	}
	return out, nil
}

// lifecycleNumbers are those of the name of a version.
func lifecycleNumbers(name string) ([]uint64, error) {
	parts := strings.Split(strings.TrimPrefix(name, "v"), ".")
	numbers := make([]uint64, len(parts))
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || len(parts) > 3 {
			return nil, fmt.Errorf("%s is not one to three numbers, such as 4 or 4.18 or 4.18.2", safetext.Quote(name))
		}
		numbers[i] = n
	}
	return numbers, nil
}

// lifecycleDate reads a date, or a time. What ends with a day ends when the next one begins.
func lifecycleDate(field, text string, ends bool) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil && day.Year() >= earliestYear {
		if ends {
			day = day.AddDate(0, 0, 1)
		}
		return day, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < earliestYear {
		return time.Time{}, fmt.Errorf("%s %s is no date such as 2027-06-30", field, safetext.Quote(text))
	}
	return at.UTC(), nil
}

// ErrLifecycle is the error of objects that say how long versions are supported, and are not written as they have to be.
var ErrLifecycle = errors.New("it is not written as the schema demands")

// Lifecycle is what the catalog says about the support of a package; nothing is said by the zero Lifecycle. With an error that is ErrLifecycle it is
// what other objects of the package say.
func (x *Index) Lifecycle(pkg string) (Lifecycle, error) {
	var all Lifecycle
	var wrong error
	for _, o := range x.lifecycles()[pkg] {
		line, err := x.line(o, nil)
		if err != nil {
			return Lifecycle{}, err
		}
		one, err := ParseLifecycle(line)
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("read %s of catalog %s: %w: %w", o.Object, x.digest, ErrLifecycle, err))
		}
		all.Versions = append(all.Versions, one.Versions...)
	}
	return all, wrong
}

// findLifecycles are the objects that say how long packages are supported, by package.
func (x *Index) findLifecycles() map[string][]indexed {
	found := map[string][]indexed{}
	for _, o := range x.objects {
		if o.Schema == SchemaLifecycles && o.Package != "" {
			found[o.Package] = append(found[o.Package], o)
		}
	}
	return found
}

// version is what is said about a version: of several, by the name with the most numbers.
func (l Lifecycle) version(v version.VersionRelease) *LifecycleVersion {
	is := []uint64{v.Version.Major, v.Version.Minor, v.Version.Patch}
	var best *LifecycleVersion
	most := 0
	for i := range l.Versions {
		numbers, err := lifecycleNumbers(l.Versions[i].Name)
		if err == nil && len(numbers) > most && slices.Equal(numbers, is[:len(numbers)]) {
			best, most = &l.Versions[i], len(numbers)
		}
	}
	return best
}
