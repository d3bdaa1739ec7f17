package preview

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// SubscriptionPlan is what the manager would do for a Subscription now.
type SubscriptionPlan struct {
	Subscription string `json:"subscription"` // namespace/name
	// Waiting is the InstallPlan that waits for approval, or is carried out; Operators, Misfits and what follows from them are then of its steps, and the rest is empty.
	Waiting *PlanView `json:"waiting,omitempty"`
	// Install is what the next InstallPlan would install, Together are the other Subscriptions that it is for, and Manual is whether it
	// would wait for approval.
	Install  []resolution.Install `json:"install"`
	Together []string             `json:"together,omitempty"`
	Manual   bool                 `json:"manual,omitempty"`
	// Operators are what becomes of the objects of each operator that would be installed, and Totals what becomes of all; nil where no object is known.
	Operators []*OperatorChange `json:"operators,omitempty"`
	Totals    *Totals           `json:"totals,omitempty"`
	// Account is the service account of the OperatorGroup, with whose rights the operators would be installed; MissingRoles are Roles, ClusterRoles and bindings,
	// as YAML for kubectl auth reconcile -f -, that give it what it lacks.
	Account      string `json:"serviceAccount,omitempty"`
	MissingRoles string `json:"missingRoles,omitempty"`
	// NotExamined is why it is not known that an account lacks nothing; empty where its rights were examined.
	NotExamined string `json:"notExamined,omitempty"`
	// Conflict and Misfits are why no plan is made, or why its operators would not run.
	Conflict *resolution.Conflict `json:"conflict,omitempty"`
	Problem  string               `json:"problem,omitempty"`
	Misfits  []Misfit             `json:"misfits,omitempty"`
	// Held are the newer versions that cannot be had. HeldUntil is when an upgrade window ends what holds the plan.
	Held      []resolution.Held `json:"held,omitempty"`
	HeldBy    string            `json:"heldBy,omitempty"`
	HeldUntil *time.Time        `json:"heldUntil,omitempty"`
	Notes     []string          `json:"notes,omitempty"`

	// Command plans the same once more; empty is that of a Subscription in the cluster, with what the cluster has.
	Command string `json:"-"`

	choices []resolution.Choice // what Install is made of
	unseen  string              // why it is not known from here what the catalog has; empty where it is
}

// PlanOf is the next InstallPlan of a Subscription.
func (p *Preview) PlanOf(subscription string) (*SubscriptionPlan, error) {
	plan := &SubscriptionPlan{Subscription: p.observed.Name + "/" + subscription, Install: []resolution.Install{}, Notes: p.observed.Misread()}
	if p.writtenPlan(plan, subscription) {
		return plan, nil
	}
	if reason, idle := p.idle[subscription]; idle {
		plan.Problem = reason
		return plan, nil
	}
	i := slices.IndexFunc(p.result.Groups, func(g resolution.Group) bool { return slices.Contains(g.Subscriptions, subscription) })
	if i < 0 {
		return nil, &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("plan Subscription %s: there is none of that name, or it is being deleted", plan.Subscription), Command: "fairlead list -n " + p.observed.Name + " lists what the namespace has"}
	}
	g := p.result.Groups[i]
	if !errors.As(g.Err, &plan.Conflict) && g.Err != nil {
		plan.Problem = g.Err.Error()
	}
	plan.choices = g.Choices
	for _, c := range g.Choices {
		plan.Install = append(plan.Install, c.Install())
	}
	for _, name := range g.Subscriptions {
		if name != subscription {
			plan.Together = append(plan.Together, name)
		}
		if sub := p.observed.Subscription(name); sub != nil && sub.InstallPlanApproval() == v1alpha1.ApprovalManual {
			plan.Manual = true
		}
	}
	plan.Held, plan.Misfits = g.Held, p.fit.misfits([]resolution.Group{g})
	for _, s := range p.result.Standings(time.Now()) {
		if s.Subscription != subscription {
			continue
		}
		if reason := p.waits(&s); reason != "" && s.HeldBy == "" {
			plan.Held = append(plan.Held, resolution.Held{Asker: "subscription " + subscription, Subscription: subscription, Instead: s.Installed, Reason: reason})
		}
		standing := Standing{SubscriptionStanding: s}
		if p.heldByWindow(&standing); standing.holders != nil {
			plan.HeldBy, plan.HeldUntil = standing.HeldBy, standing.HeldUntil
		}
	}
	return plan, nil
}

// Changes reports whether something would be installed.
func (s *SubscriptionPlan) Changes() bool { return s.Waiting != nil || len(s.Install) > 0 }

// nothing is why no objects are examined where nothing is known to be installed.
func (s *SubscriptionPlan) nothing() string {
	switch {
	case s.unseen != "":
		return "what would be installed is not known: " + s.unseen
	case s.Conflict != nil:
		return "no InstallPlan can be made: " + s.Conflict.Error()
	case s.Problem != "":
		return "no InstallPlan can be made: " + s.Problem
	}
	return "nothing would be installed"
}

// unexamined adds a reason for which it is not known what the account lacks.
func (s *SubscriptionPlan) unexamined(why string) {
	if s.NotExamined != "" {
		why = s.NotExamined + "; " + why
	}
	s.NotExamined = why
}

// Blocked reports whether there is no solution, or the plan could not be carried out, as where its account lacks rights.
func (s *SubscriptionPlan) Blocked() bool {
	return s.Conflict != nil || s.Problem != "" || len(s.Misfits) > 0 || s.MissingRoles != "" || slices.ContainsFunc(s.Operators, func(o *OperatorChange) bool { return len(o.Blocked) > 0 })
}

// Write prints the plan for people.
func (s *SubscriptionPlan) Write(w io.Writer) error {
	var b page
	if s.Waiting != nil {
		return s.writeWaiting(w)
	}
	switch {
	case s.Blocked() && len(s.Install) == 0:
		b.printf("Subscription %s: no InstallPlan can be made\n", s.Subscription)
	case len(s.Install) == 0:
		b.printf("Subscription %s: nothing to install\n", s.Subscription)
	case s.Manual:
		b.printf("Subscription %s: an InstallPlan would be written, and wait for approval\n", s.Subscription)
	default:
		b.printf("Subscription %s: an InstallPlan would be written, and carried out\n", s.Subscription)
	}
	if len(s.Together) > 0 && len(s.Install) > 0 {
		b.printf("it is for these Subscriptions, too: %s\n", strings.Join(s.Together, ", "))
	}
	for _, note := range s.Notes {
		b.printf("note: %s\n", note)
	}
	if len(s.Install) > 0 {
		rows := [][]string{{"OPERATOR", "VERSION", "CHANNEL", "CATALOG", "FOR", "REPLACES"}}
		for _, i := range s.Install {
			rows = append(rows, []string{i.Name, i.Version, i.Channel, i.Catalog, i.For, i.Replaces})
		}
		b.WriteString("\n" + messages.Table(rows...))
	}
	if err := s.writeObjects(&b); err != nil {
		return err
	}
	if s.HeldBy != "" {
		b.WriteString("\nit waits:\n")
		b.put(indented(messages.Clean(s.HeldBy)))
	}
	writeMisfits(&b, s.Misfits)
	writeHeld(&b, s.Held)
	if s.Conflict != nil {
		b.WriteString("\nno solution:\n")
		b.put(indented(s.Conflict.Error()))
	}
	if s.Problem != "" {
		b.WriteString("\nno solution:\n")
		b.put(indented(messages.Clean(s.Problem)))
	}
	s.writeTotals(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeObjects prints what becomes of the objects of each operator.
func (s *SubscriptionPlan) writeObjects(b *page) error {
	for _, o := range s.Operators {
		if err := o.write(b); err != nil {
			return err
		}
	}
	return nil
}

// writeTotals prints how to see what the account lacks, or why that is not known, and what becomes of all objects.
func (s *SubscriptionPlan) writeTotals(b *page) {
	namespace, name, _ := strings.Cut(s.Subscription, "/")
	if s.MissingRoles != "" {
		command := cmp.Or(s.Command, "fairlead plan "+Quoted(name)+" -n "+Quoted(namespace))
		b.printf("\nRoles with what ServiceAccount %s/%s lacks, to be read, and granted with: %s --missing-roles | kubectl auth reconcile -f -\n", namespace, s.Account, command)
	}
	switch {
	case s.Account == "" || s.NotExamined == "":
	case s.MissingRoles == "":
		b.printf("\nwhat ServiceAccount %s/%s lacks was not examined: %s\n", namespace, s.Account, s.NotExamined)
	default:
		b.printf("\nServiceAccount %s/%s may lack more: %s\n", namespace, s.Account, s.NotExamined)
	}
	unread := 0
	for _, o := range s.Operators {
		unread += o.Unread
	}
	switch {
	case s.Totals == nil:
	case unread > 0:
		b.printf("\n%s; and %s that you may not read\n", s.Totals, safetext.Count(unread, "object"))
	default:
		b.printf("\n%s\n", s.Totals)
	}
}

// writeWaiting prints the InstallPlan that is next.
func (s *SubscriptionPlan) writeWaiting(w io.Writer) error {
	var b page
	b.printf("Subscription %s: this InstallPlan is next\n\n", s.Subscription)
	if err := s.Waiting.Write(&b); err != nil {
		return err
	}
	b.printf("\nthe objects of its steps: fairlead plan show %s -n %s --manifests\n", s.Waiting.Name, s.Waiting.Namespace)
	for _, note := range s.Notes {
		b.printf("note: %s\n", note)
	}
	if err := s.writeObjects(&b); err != nil {
		return err
	}
	writeMisfits(&b, s.Misfits)
	s.writeTotals(&b)
	_, err := io.WriteString(w, b.String())
	return err
}
