package steps

import "context"

type auditKey struct{}

// WithAudit gives requests that are made under ctx, outside of a step, their
// Audit-IDs.
func WithAudit(ctx context.Context, next func() string) context.Context {
	return context.WithValue(ctx, auditKey{}, next)
}

// NextAudit returns the next Audit-ID of ctx, "" where it has none.
func NextAudit(ctx context.Context) string {
	if next, ok := ctx.Value(auditKey{}).(func() string); ok {
		return next()
	}
	return ""
}
