package console

import (
	"context"
	"net/http"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// whyOf is what is decided on: what the cluster has, and what the question adds.
func (c questions) whyOf(ctx context.Context, q *query, p *whyPage) (question *preview.Question, err error) {
	if p.API == "v1" {
		question, err = c.extensions(ctx, q.user)
	} else {
		question, err = c.namespaced(ctx, q.user, p.Namespace)
	}
	if err != nil {
		return nil, err
	}
	question.Again = []string{"--namespace", p.Namespace}
	for _, text := range p.Subscribe {
		request, err := preview.ParseRequest(text)
		if err != nil {
			return nil, &statusError{http.StatusBadRequest, "The Subscription to add cannot be understood: " + err.Error(), "write PACKAGE, or PACKAGE:CHANNEL, each with %CATALOG where several catalogs have it"}
		}
		question.Requests = append(question.Requests, request)
		question.Again = append(question.Again, "--subscribe", text)
	}
	for _, text := range p.Catalogs {
		named, err := c.namedCatalog(text)
		if err != nil {
			return nil, err
		}
		question.Catalogs = append(question.Catalogs, named) // no command that asks a cluster takes it
	}
	return question, nil
}

// namedCatalog reads NAME=IMAGE, of an image that may be read.
func (c questions) namedCatalog(text string) (preview.Catalog, error) {
	if err := c.reads(text); err != nil {
		return preview.Catalog{}, err
	}
	named, err := preview.ParseCatalog(text)
	if err == nil {
		named.Source, err = preview.ParseCatalogImage(named.Source)
	}
	if err != nil {
		return named, &statusError{http.StatusBadRequest, "The catalog cannot be understood: " + err.Error(), "write NAME=IMAGE, the image with the host of its registry"}
	}
	return named, nil
}

// decide answers a question.
func (c questions) decide(ctx context.Context, question *preview.Question, asks whyQuestion) (*whyAnswer, error) {
	var text strings.Builder
	if asks.Kind == asksResolve && asks.API == "v1" {
		wanted := preview.Extension{Package: asks.Name, Version: asks.Version}
		if asks.Channel != "" {
			wanted.Channels = []string{asks.Channel}
		}
		r, err := question.Extend(ctx, c.Library, wanted)
		if err != nil {
			return nil, err
		}
		err = r.Write(&text)
		return &whyAnswer{Extension: r, Text: text.String()}, err
	}
	p, err := question.Decide(ctx, c.Library)
	if err != nil {
		return nil, err
	}
	a := &whyAnswer{}
	switch asks.Kind {
	case asksWhy:
		w := p.Why(asks.Name)
		a.Why, err = &w, w.Write(&text)
	case asksWhyNot:
		w, failed := p.WhyNot(ctx, asks.Name, asks.Version)
		if messages.Asked(failed) != nil {
			return nil, &statusError{http.StatusNotFound, withoutCommands(failed), "correct the question: without a version it is answered for all that the catalogs have, and the catalog has all packages"}
		}
		if failed != nil {
			return nil, failed
		}
		a.WhyNot, err = &w, w.Write(&text)
	default:
		r := p.Resolution()
		a.Resolution, err = &r, r.Write(&text)
	}
	a.Text = text.String()
	return a, err
}

// command asks the same in a terminal.
func (w whyQuestion) command() string {
	line := []string{"fairlead", w.Kind}
	add := func(flag, value string) {
		if value != "" {
			line = append(line, flag, preview.Quoted(value))
		}
	}
	switch {
	case w.Kind == asksResolve && w.API == "v1":
		add("--extension", w.Name)
		add("--version", w.Version)
		add("--channel", w.Channel)
	case w.Kind == asksWhyNot && w.Version != "":
		line = append(line, preview.Quoted(w.Name+"@"+w.Version))
	case w.Kind != asksResolve:
		line = append(line, preview.Quoted(w.Name))
	}
	if w.API != "v1" || w.Kind != asksResolve {
		add("--namespace", w.Namespace)
	}
	for _, s := range w.Subscribe {
		add("--subscribe", s)
	}
	return strings.Join(line, " ")
}
