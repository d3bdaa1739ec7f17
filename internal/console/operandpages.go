package console

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/internal/ops"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Pages of custom resources, of the kinds that installed operators own and of no others.
const (
	operandsPath = "/operands"
	operandPath  = "/operands/{definition}"
)

// operandPages are the pages of custom resources, and what they change.
type operandPages struct{}

// operandsPage is the kinds that operators provide, with their custom resources.
type operandsPage struct {
	*ops.Operands
	// Name is the operator that was asked for; empty for all.
	Name string `json:"name,omitempty"`
}

// maxKinds is how many kinds a page shows.
const maxKinds = 300

func (operandPages) operands(ctx context.Context, q *query) (any, error) {
	found, err := ops.ReadOperands(ctx, q.user.client, q.namespace(ctx), q.get("name"))
	if err != nil {
		return nil, err
	}
	if n := len(found.Kinds) - maxKinds; n > 0 && !q.whole {
		found.Kinds = found.Kinds[:maxKinds]
		found.Notes = append(found.Notes, fmt.Sprintf("%d more kinds are not shown: choose a namespace", n))
	}
	return &operandsPage{found, q.get("name")}, nil
}

// operandKindPage is one of the kinds.
type operandKindPage struct {
	ops.OperandKind
	Notes  []string `json:"notes,omitempty"`
	Create Right    `json:"create"`
}

// kindOf is the kind that an address names, which an operator in view owns.
func kindOf(ctx context.Context, q *query) (*ops.OperandKind, []string, error) {
	return ops.FindOperandKind(ctx, q.user.client, q.namespace(ctx), q.path("definition"))
}

// mayWith is whether the user may do something with the custom resources of a kind.
func mayWith(ctx context.Context, u *User, verb string, kind ops.OperandKind, namespace string) Right {
	resource, group := kind.Resource()
	return u.may(ctx, verb, group, resource, namespace)
}

func (operandPages) operandKind(ctx context.Context, q *query) (any, error) {
	kind, notes, err := kindOf(ctx, q)
	if err != nil {
		return nil, err
	}
	more, err := ops.ListOf(ctx, q.user.client, q.namespace(ctx), kind)
	if err != nil {
		return nil, err
	}
	return &operandKindPage{*kind, append(notes, more...), mayWith(ctx, q.user, "create", *kind, q.namespace(ctx))}, nil
}

// operandObjectPage is a custom resource.
type operandObjectPage struct {
	*ops.Operand
	// Cut: the YAML is longer than what is shown.
	Cut    bool  `json:"cut,omitempty"`
	Delete Right `json:"delete"`
	// In is the namespace of the operators that the page before was about.
	In string `json:"-"`
}

// maxYAML is how much of a custom resource a page shows, in bytes.
const maxYAML = 256 << 10

// operandKey is the custom resource that an address or a form names.
func operandKey(q *query) client.ObjectKey {
	return client.ObjectKey{Namespace: q.get("in"), Name: q.get("object")}
}

func (operandPages) operandObject(ctx context.Context, q *query) (any, error) {
	kind, _, err := kindOf(ctx, q)
	if err != nil {
		return nil, err
	}
	found, err := ops.ReadOperand(ctx, q.user.client, *kind, operandKey(q))
	if err != nil {
		return nil, err
	}
	p := &operandObjectPage{Operand: found, Delete: mayWith(ctx, q.user, "delete", *kind, found.Namespace), In: q.namespace(ctx)}
	if p.Cut = !q.whole && len(found.YAML) > maxYAML; p.Cut {
		found.YAML = strings.ToValidUTF8(found.YAML[:maxYAML], "")
	}
	return p, nil
}

// newOperandPage is the form of a custom resource. Text is what is to be created, and Problem why the API server would not take it; it was asked when
// Checked.
type newOperandPage struct {
	Definition string `json:"definition"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	// Examples is how many there are, and Example which of them is shown, from 1.
	Examples int    `json:"examples"`
	Example  int    `json:"example"`
	Text     string `json:"text"`
	Checked  bool   `json:"checked,omitempty"`
	Problem  string `json:"problem,omitempty"`
	Right    Right  `json:"right"`
}

func (operandPages) newOperand(ctx context.Context, q *query) (any, error) {
	kind, _, err := kindOf(ctx, q)
	if err != nil {
		return nil, err
	}
	into := q.get("in")
	if into == "" {
		into = q.namespace(ctx)
	}
	if into == "" {
		into = q.user.Namespace
	}
	p := &newOperandPage{Definition: kind.Definition, Kind: kind.Kind, Namespace: into, Right: mayWith(ctx, q.user, "create", *kind, into)}
	if text := q.values.Get("text"); text != "" {
		p.Text, p.Checked = text, true
		if err := check(ctx, q, *kind, into, text); err != nil {
			p.Problem = explain(err).text
		}
		return p, nil
	}
	examples, err := ops.OperandExamples(ctx, q.user.client, q.namespace(ctx), *kind)
	if err != nil {
		return nil, err
	}
	p.Examples = len(examples)
	p.Example, _ = strconv.Atoi(q.get("example"))
	p.Example = min(max(1, p.Example), len(examples))
	p.Text = examples[p.Example-1]
	return p, nil
}

// check asks the API server whether it would take a custom resource.
func check(ctx context.Context, q *query, kind ops.OperandKind, namespace, text string) error {
	o, err := ops.ParseOperand(kind, namespace, text)
	if err != nil {
		return unfit(err, "go back, and correct it")
	}
	return ops.CreateOperand(ctx, q.user.client, o, true)
}

func (operandPages) createOperand(ctx context.Context, q *query) (done, error) {
	kind, _, err := kindOf(ctx, q)
	if err != nil {
		return done{}, err
	}
	if err := check(ctx, q, *kind, q.get("in"), q.values.Get("text")); err != nil {
		return done{}, err
	}
	o, err := ops.ParseOperand(*kind, q.get("in"), q.values.Get("text"))
	if err != nil {
		return done{}, err
	}
	if err := ops.CreateOperand(ctx, q.user.client, o, false); err != nil {
		return done{}, err
	}
	return done{Notice: fmt.Sprintf("%s %s is created", kind.Kind, o.GetName()), To: operandAt(kind.Definition, q.namespace(ctx))}, nil
}

func (operandPages) deleteOperand(ctx context.Context, q *query) (done, error) {
	kind, _, err := kindOf(ctx, q)
	if err != nil {
		return done{}, err
	}
	key := operandKey(q)
	if q.get("confirm") != key.Name {
		return done{}, &statusError{400, fmt.Sprintf("Delete %s %s: nothing was deleted, as its name was not typed to confirm that", kind.Kind, key.Name), "go back, and type " + key.Name}
	}
	if err := ops.DeleteOperand(ctx, q.user.client, *kind, key); err != nil {
		return done{}, err
	}
	return done{Notice: fmt.Sprintf("%s %s is deleted, or is when its finalizers are done", kind.Kind, key.Name), To: operandAt(kind.Definition, q.namespace(ctx))}, nil
}

func operandAt(definition, namespace string) string {
	return address(operandsPath+"/"+url.PathEscape(definition), namespaceKey, namespace)
}

func (p operandPages) part() part {
	return part{
		views: []view{
			{path: operandsPath, template: "operands", title: "Custom resources", load: p.operands},
			{path: operandPath, template: "operandkind", title: "Custom resources of a kind", load: p.operandKind},
			{path: operandPath + "/object", template: "operand", title: "Custom resource", load: p.operandObject},
			{path: operandPath + "/new", template: "operandnew", title: "Create a custom resource", posted: true, load: p.newOperand},
		},
		actions: []action{
			{path: operandPath + "/create", do: p.createOperand, form: "new"},
			{path: operandPath + "/delete", do: p.deleteOperand},
		},
	}
}
