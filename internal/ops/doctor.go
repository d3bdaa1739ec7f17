package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Examination is what a cluster is examined with.
type Examination struct {
	// Client reads. All that it creates are access reviews, of which the API server keeps nothing.
	Client client.Client
	// Namespace is that of the manager. Own is that of the user, whose catalogs are read where those of all namespaces may not be.
	Namespace, Own string
	// Server asks the API server who it is.
	Server func(context.Context) (ServerAnswer, error)
	Now    func() time.Time
	// Limit bounds each check; 10 s when zero.
	Limit time.Duration
}

// ServerAnswer is what an API server says of itself.
type ServerAnswer struct {
	Address, Version string
	// Date is the time of its clock, to the second; zero when it does not say.
	Date time.Time
}

// Results of checks.
const (
	CheckOK     = "ok"
	CheckFailed = "failed"
	// CheckNote is the result of a check that found nothing wrong, but could not read all, or has something to say.
	CheckNote = "note"
)

// Diagnosis is what an examination has found.
type Diagnosis struct {
	Checks []Check `json:"checks"`
	// Findings is how many there are in all checks.
	Findings int `json:"findings"`
}

// Check is one thing that was examined.
type Check struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	// Summary is what was found to be as it should be.
	Summary  string    `json:"summary,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Notes are what could not be read, and what is worth knowing.
	Notes []string `json:"notes,omitempty"`

	// forbidden is what the user may not read.
	forbidden []string
}

// Finding is one thing that is wrong: with which object, what, and what to do about it.
type Finding struct {
	Object  string `json:"object"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// examiner examines a cluster. What the first checks find the later ones use.
type examiner struct {
	Examination
	// ahead is by how much the clock of the API server is ahead of the one here, where that is known: clocked.
	ahead   time.Duration
	clocked bool
	// managers are the Deployments of Fairlead's manager, and leaders the leases of managers.
	// known: the Deployments could be read. unread are the namespaces whose leases could not be.
	managers []appsv1.Deployment
	known    bool
	leaders  []leader
	unread   []string
	// found are other lifecycle managers, and rivalsRead what there is to say of reading them; nil as long as that was not done.
	// foreign: they manage the cluster, and Fairlead does not.
	found      []rival
	rivalsRead *Check
	foreign    bool
	// backends are why Services lead nowhere, as far as that was asked; empty for one that leads to something.
	backends map[types.NamespacedName]string
}

// examinations are the checks, in the order in which they are made and shown.
var examinations = []struct {
	name string
	run  func(*examiner, context.Context, *Check)
}{
	{"connection", (*examiner).connection},
	{"manager", (*examiner).manager},
	{"rights", (*examiner).rights},
	{"other managers", func(e *examiner, ctx context.Context, c *Check) { rivalExam{e}.otherManagers(ctx, c) }},
	{"definitions", (*examiner).definitions},
	{"admission policies", (*examiner).policies},
	{"catalog namespace", (*examiner).catalogNamespace},
	{"catalogs", (*examiner).catalogs},
	{"webhooks", func(e *examiner, ctx context.Context, c *Check) { servedAPIs{e}.webhooks(ctx, c) }},
	{"API services", func(e *examiner, ctx context.Context, c *Check) { servedAPIs{e}.apiServices(ctx, c) }},
	{"certificates", func(e *examiner, ctx context.Context, c *Check) { certificateExam{servedAPIs{e}}.certificates(ctx, c) }},
	{"clocks", (*examiner).clocks},
}

// Examine examines a cluster, and writes nothing to it. What the user may not read is a note. Without a connection nothing else is examined.
func Examine(ctx context.Context, with Examination) *Diagnosis {
	if with.Limit == 0 {
		with.Limit = 10 * time.Second
	}
	e := &examiner{Examination: with, backends: map[types.NamespacedName]string{}}
	d := &Diagnosis{}
	for i, one := range examinations {
		c := Check{Name: one.name, Result: CheckOK}
		within, cancel := context.WithTimeout(ctx, e.Limit)
		one.run(e, within, &c)
		cancel()
		if len(c.forbidden) > 0 {
			c.note("you may not read %s", strings.Join(c.forbidden, ", "))
			c.Summary = ""
		}
		switch {
		case len(c.Findings) > 0:
			c.Result = CheckFailed
		case len(c.Notes) > 0:
			c.Result = CheckNote
		}
		d.Findings += len(c.Findings)
		d.Checks = append(d.Checks, c)
		if i == 0 && c.Result == CheckFailed {
			break
		}
	}
	return d
}

// now is the time of the clock of the API server, where that is known.
func (e *examiner) now() time.Time { return e.Now().Add(e.ahead) }

// fail adds a finding, once.
func (c *Check) fail(object, remedy, format string, args ...any) {
	f := Finding{Object: object, Problem: messages.Line(fmt.Sprintf(format, args...), maxFinding), Remedy: remedy}
	if !slices.Contains(c.Findings, f) {
		c.Findings = append(c.Findings, f)
	}
}

// maxFinding bounds the text of a finding or a note, in bytes: much of it comes from other programs.
const maxFinding = 1000

// note adds a note, once.
func (c *Check) note(format string, args ...any) {
	if text := messages.Line(fmt.Sprintf(format, args...), maxFinding); !slices.Contains(c.Notes, text) {
		c.Notes = append(c.Notes, text)
	}
}

// forbid notes what the user may not read.
func (c *Check) forbid(what string) {
	if !slices.Contains(c.forbidden, what) {
		c.forbidden = append(c.forbidden, what)
	}
}

// read reports whether something was read. What the user may not read is a note, and a kind that the cluster does not have has no objects.
func (c *Check) read(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case apierrors.IsForbidden(err):
		c.forbid(what)
	case errors.Is(err, context.DeadlineExceeded) || apierrors.IsTimeout(err):
		c.fail(what, "run fairlead doctor again; where it stays so, the API server or its etcd is overloaded: read their logs", "not read in time: %v", err)
	case !rollout.IsUnknownKind(err):
		c.fail(what, "run fairlead doctor again; fairlead must-gather collects what a helper needs", "cannot be read: %v", err)
	}
	return false
}

// Done reports whether nothing is wrong.
func (d *Diagnosis) Done() bool { return d.Findings == 0 }

// Write prints a line for each check, with what is wrong and what to do below it, and totals at the end.
func (d *Diagnosis) Write(w io.Writer) error {
	var b strings.Builder
	counts, wide := map[string]int{}, 0
	for _, one := range examinations {
		wide = max(wide, len(one.name))
	}
	for _, c := range d.Checks {
		counts[c.Result]++
		c.write(&b, wide)
	}
	fmt.Fprintf(&b, "\n%s: %d found nothing wrong, %d failed, %d with notes only", safetext.Count(len(d.Checks), "check"), counts[CheckOK], counts[CheckFailed], counts[CheckNote])
	if d.Findings > 0 {
		fmt.Fprintf(&b, "; %s to solve", safetext.Count(d.Findings, "problem"))
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Check) write(b *strings.Builder, wide int) {
	mark := map[string]string{CheckOK: "✓", CheckFailed: "✗", CheckNote: "·"}[c.Result]
	summary := messages.Line(c.Summary, maxFinding)
	switch {
	case c.Result == CheckFailed:
		summary = safetext.Count(len(c.Findings), "problem")
	case c.Result == CheckNote && summary == "":
		summary = "not all could be examined"
	}
	fmt.Fprintf(b, "%s %-*s  %s\n", mark, wide, c.Name, summary)
	for i, f := range c.Findings {
		fmt.Fprintf(b, "    %s: %s\n", messages.Clean(f.Object), f.Problem)
		if i == len(c.Findings)-1 || c.Findings[i+1].Remedy != f.Remedy { // what helps against several is said once
			fmt.Fprintf(b, "      → %s\n", messages.Line(f.Remedy, maxFinding))
		}
	}
	for _, note := range c.Notes {
		fmt.Fprintf(b, "    note: %s\n", note)
	}
}
