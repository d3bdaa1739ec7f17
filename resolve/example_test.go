package resolve_test

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/resolve"
)

// A user asks for guestbook, of which 1.2.0 is the newest version. It needs the greeter's newer API, but the newest
// greeter is out of the question. So the older guestbook is preferred, and WhyNot tells what holds the newer one back.
// When the older one is taken away as well, the error tells why nothing is left.
func Example() {
	var p resolve.Problem
	request := p.Var("subscription:guestbook")
	book12, book11 := p.Var("guestbook.v1.2.0"), p.Var("guestbook.v1.1.0")
	greet12, greet11 := p.Var("greeter.v1.2.0"), p.Var("greeter.v1.1.0")

	p.Require(request, resolve.Origin{Text: "subscription guestbook exists"})
	p.Depends(request, []resolve.Var{book12, book11}, resolve.Origin{
		Object: "Subscription demo/guestbook", Field: "spec.channel",
		Text: "subscription guestbook requires at least one of guestbook.v1.2.0 or guestbook.v1.1.0",
	})
	p.Depends(book12, []resolve.Var{greet12}, resolve.Origin{
		Object: "guestbook.v1.2.0", Field: "properties[1]", Catalog: "demo", Digest: "sha256:4a6f",
		Text: "guestbook.v1.2.0 requires an operator providing Greeting.v1.demo.fairlead.dev",
	})
	p.Depends(book11, []resolve.Var{greet12, greet11}, resolve.Origin{
		Object: "guestbook.v1.1.0", Field: "properties[1]", Catalog: "demo", Digest: "sha256:4a6f",
		Text: "guestbook.v1.1.0 requires an operator providing Greeting.v1alpha1.demo.fairlead.dev",
	})
	p.AtMostOne([]resolve.Var{book12, book11}, resolve.Origin{Text: "there can be only one operator from package guestbook"})
	p.AtMostOne([]resolve.Var{greet12, greet11}, resolve.Origin{Text: "there can be only one operator from package greeter"})
	p.Forbid(greet12, resolve.Origin{
		Object: "greeter.v1.2.0", Text: "greeter.v1.2.0 is deprecated", Hint: "Ask the catalog's owner for a newer greeter.",
	})

	ctx := context.Background()
	answer, err := resolve.Solve(ctx, &p, resolve.Options{})
	fmt.Println(answer.IDs(), err)
	verdict, err := answer.WhyNot(ctx, book12, resolve.Options{})
	fmt.Println(verdict.Core, err)

	p.Forbid(book11, resolve.Origin{Text: "guestbook.v1.1.0 is deprecated"})
	_, err = resolve.Solve(ctx, &p, resolve.Options{})
	fmt.Println(err)

	// Output:
	// [subscription:guestbook guestbook.v1.1.0 greeter.v1.1.0] <nil>
	// because guestbook.v1.2.0 is asked about
	// and guestbook.v1.2.0 requires an operator providing Greeting.v1.demo.fairlead.dev
	// and greeter.v1.2.0 is deprecated
	// there is no solution
	// Ask the catalog's owner for a newer greeter. <nil>
	// because subscription guestbook exists
	// and subscription guestbook requires at least one of guestbook.v1.2.0 or guestbook.v1.1.0
	// and guestbook.v1.2.0 requires an operator providing Greeting.v1.demo.fairlead.dev
	// and greeter.v1.2.0 is deprecated
	// and guestbook.v1.1.0 is deprecated
	// there is no solution
	// Ask the catalog's owner for a newer greeter.
}
