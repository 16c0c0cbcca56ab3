package main

import (
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type records struct{}

func newProvider() provider.Provider { return records{} }

type providerModel struct {
	Endpoint types.String `tfsdk:"endpoint"`
	Token    types.String `tfsdk:"token"`
	Retry    types.String `tfsdk:"retry"`
	Cached   types.Bool   `tfsdk:"cached_reads"`
	Heeds    types.Bool   `tfsdk:"heeds_cancel"`
}

// Metadata implements provider.Provider.
func (records) Metadata(_ context.Context, _ provider.MetadataRequest, out *provider.MetadataResponse) {
	out.TypeName, out.Version = "records", "0.1.0"
}

// Schema implements provider.Provider.
func (records) Schema(_ context.Context, _ provider.SchemaRequest, out *provider.SchemaResponse) {
	out.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"endpoint":     schema.StringAttribute{Optional: true},
		"token":        schema.StringAttribute{Optional: true, Sensitive: true},
		"retry":        schema.StringAttribute{Optional: true},
		"cached_reads": schema.BoolAttribute{Optional: true},
		"heeds_cancel": schema.BoolAttribute{Optional: true},
	}}
}

// Configure implements provider.Provider.
func (records) Configure(ctx context.Context, in provider.ConfigureRequest, out *provider.ConfigureResponse) {
	var m providerModel
	out.Diagnostics.Append(in.Config.Get(ctx, &m)...)
	if out.Diagnostics.HasError() {
		return
	}
	c := &client{endpoint: m.Endpoint.ValueString(), token: m.Token.ValueString(), retry: m.Retry.ValueString(), cached: m.Cached.ValueBool(), heeds: m.Heeds.ValueBool()}
	if c.endpoint == "" {
		c.endpoint = os.Getenv("RECORDS_API")
	}
	// The second is how tools know the tokens of a host.
	for _, name := range []string{"RECORDS_TOKEN", "TF_TOKEN_lab_example"} {
		if c.token == "" {
			c.token = os.Getenv(name)
		}
	}
	if c.retry == "" {
		c.retry = retryForever
	}
	switch {
	case c.retry != retryForever && c.retry != retryBounded && c.retry != retryNever:
		out.Diagnostics.AddError("Invalid retry", "retry is forever, bounded or never.")
	case c.endpoint == "":
		out.Diagnostics.AddError("No endpoint", "Set endpoint, or RECORDS_API.")
	case c.token == "":
		out.Diagnostics.AddError("No valid credential sources found", "Set token, RECORDS_TOKEN or TF_TOKEN_lab_example.")
	}
	out.ResourceData = c
}

// Resources implements provider.Provider.
func (records) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &entryResource{} }}
}

// DataSources implements provider.Provider.
func (records) DataSources(context.Context) []func() datasource.DataSource { return nil }
