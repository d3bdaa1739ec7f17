package console

import (
	"context"
	"strings"
)

// beside is how far it is what is made of an operator beside its page.
type beside struct {
	// Planning is true while it is being made; Problem is why it is not known, and Remedy what to do.
	Planning bool   `json:"planning,omitempty"`
	Problem  string `json:"problem,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// madeBeside is what takes longer to be made of an operator than its page may: for a question, and a version of what it is about. The page says why it is not
// known where it cannot be made; a program has that as an error.
func madeBeside[V any](ctx context.Context, q *query, o operatorRef, kept *readings[asked, V], question, version string, read func(context.Context) (V, error)) (value V, b beside, err error) {
	key := asked{q.user, strings.Join([]string{o.kind, o.Namespace, o.Name, question}, "\n")}
	value, b.Planning, err = kept.of(ctx, key, version, q.whole || q.sent, q.user, read)
	if err != nil && !q.whole {
		said := explain(err)
		b.Problem, b.Remedy, err = said.text, said.whatToDo, nil
	}
	return value, b, err
}
