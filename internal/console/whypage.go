package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// The questions of the page.
const (
	asksWhy     = "why"
	asksWhyNot  = "why-not"
	asksResolve = "resolve"
)

// Bounds of a question.
const (
	maxNames    = 1000 // that are suggested
	maxRequests = 20
	maxAsked    = 300 // bytes of a field
)

// questions are the page that answers why.
type questions struct{ *Console }

// whyPage is a question about what is decided, and its answer.
type whyPage struct {
	whyQuestion
	// Answer is nil where nothing was asked, while Answering is true, and where Problem is why there is none.
	Answer    *whyAnswer `json:"answer,omitempty"`
	Answering bool       `json:"answering,omitempty"`
	Problem   string     `json:"problem,omitempty"`
	Remedy    string     `json:"remedy,omitempty"`
	// Command asks the same in a terminal.
	Command string   `json:"command,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Unread is why no image can be named here; empty where it can.
	Unread string `json:"-"`
	// Names are packages to choose from.
	Names []string `json:"-"`
}

// whyQuestion is what the address asks.
type whyQuestion struct {
	Kind      string `json:"kind"`
	Name      string `json:"name,omitempty"`
	Version   string `json:"version,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	API       string `json:"api,omitempty"`
	Channel   string `json:"channel,omitempty"`
	// Subscribe are Subscriptions that are added, and Catalogs are read from other images.
	Subscribe []string `json:"subscribe,omitempty"`
	Catalogs  []string `json:"catalogs,omitempty"`
}

// Asked reports whether there is a question.
func (w whyQuestion) Asked() bool { return w.Name != "" || w.Kind == asksResolve && w.API != "v1" }

// whyAnswer is the answer: one of these.
type whyAnswer struct {
	Why        *preview.Why                 `json:"why,omitempty"`
	WhyNot     *preview.WhyNot              `json:"whyNot,omitempty"`
	Resolution *preview.Resolution          `json:"resolution,omitempty"`
	Extension  *preview.ExtensionResolution `json:"extension,omitempty"`
	// Text is the same as the command prints it.
	Text string `json:"-"`
}

func (c questions) page(ctx context.Context, q *query) (any, error) {
	p := &whyPage{whyQuestion: whyQuestion{Kind: cmp.Or(q.get("kind"), asksWhy), Name: q.get("name"), Version: q.get("version"), API: q.get("api"), Channel: q.get("channel"),
		Namespace: cmp.Or(q.namespace(ctx), q.user.Namespace), Subscribe: lists(q.values["subscribe"]), Catalogs: lists(q.values["catalog"])}}
	if !q.values.Has("kind") && p.Name == "" { // the form, before anything is asked
		p.Kind = ""
	}
	if err := c.reads(""); err != nil {
		p.Unread = explain(err).text + "; " + explain(err).whatToDo
	}
	err := c.answerWhy(ctx, q, p)
	if chosen := q.get(namespaceKey); err == nil && !p.Asked() && chosen != "" { // the answer to a question says so itself
		err = ops.Absent(ctx, q.user.client, chosen)
	}
	if err != nil {
		if q.whole {
			return nil, err
		}
		known := explain(err)
		p.Problem, p.Remedy = known.text, known.whatToDo
	}
	if !q.whole {
		p.Names = c.packageNames(ctx, q, p.Namespace)
	}
	return p, nil
}

// lists are the values of fields that have several.
func lists(values []string) (all []string) {
	for _, v := range values {
		all = append(all, namesIn(v)...)
	}
	return all
}

// packageNames are what the catalogs in view have, as far as that is known already.
func (c questions) packageNames(ctx context.Context, q *query, namespace string) []string {
	offered, _, err := c.shelf.offers(ctx, q.user, namespace, false)
	if err != nil {
		return nil // it can be typed
	}
	names := preview.Names(offered.Packages)
	return names[:min(len(names), maxNames)]
}

// answerWhy answers the question of the page, if it has one.
func (c questions) answerWhy(ctx context.Context, q *query, p *whyPage) error {
	if err := c.checkWhy(p); err != nil || !p.Asked() || p.Kind == "" {
		return err
	}
	question, err := c.whyOf(ctx, q, p)
	if err != nil {
		return err
	}
	p.Notes, p.Command = question.Notes, p.command()
	key := strings.Join([]string{p.Kind, p.Name, p.Version, p.API, p.Channel, question.State()}, "\x00")
	p.Answer, p.Answering, err = c.answers.get(ctx, asked{q.user, key}, q.whole, q.user, func(ctx context.Context) (*whyAnswer, error) { return c.decide(ctx, question, p.whyQuestion) })
	return err
}

// checkWhy refuses what nothing can be called.
func (c questions) checkWhy(p *whyPage) error {
	refuse := func(format string, args ...any) error {
		return &statusError{http.StatusBadRequest, fmt.Sprintf(format, args...), "correct the question, and ask again"}
	}
	if p.Kind != "" && !slices.Contains([]string{asksWhy, asksWhyNot, asksResolve}, p.Kind) {
		return refuse("There is no question %q: it is why, why-not or resolve", p.Kind)
	}
	if p.API != "" && p.API != "v0" && p.API != "v1" {
		return refuse("There is no API %q: it is v0 or v1", p.API)
	}
	if len(p.Subscribe)+len(p.Catalogs) > maxRequests {
		return refuse("The question has %d Subscriptions and catalogs in addition: it may have %d", len(p.Subscribe)+len(p.Catalogs), maxRequests)
	}
	for what, text := range map[string]string{"operator": p.Name, "channel": p.Channel, "namespace": p.Namespace} {
		if text == "" {
			continue
		}
		if err := preview.Check(what, text); err != nil || len(text) > maxAsked {
			return refuse("The %s cannot be called %q: %v", what, text[:min(len(text), maxAsked)], cmp.Or(err, errors.New("it is too long")))
		}
	}
	if len(p.Version) > maxAsked {
		return refuse("The version is too long")
	}
	return nil
}

func (c questions) part() part {
	return part{views: []view{{path: "/why", template: "why", title: "Why", load: c.page}}}
}
