package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// entryResource is records_entry.
type entryResource struct{ client *client }

type entryModel struct {
	ID       types.String `tfsdk:"id"`
	Name     types.String `tfsdk:"name"`
	Value    types.String `tfsdk:"value"`
	Revision types.Int64  `tfsdk:"revision"`
	Parts    types.Int64  `tfsdk:"parts"`
	Pause    types.String `tfsdk:"pause"`
	Mangle   types.Bool   `tfsdk:"mangle"`
}

// Metadata implements resource.Resource.
func (*entryResource) Metadata(_ context.Context, in resource.MetadataRequest, out *resource.MetadataResponse) {
	out.TypeName = in.ProviderTypeName + "_entry"
}

// Schema implements resource.Resource. There are no timeouts in it.
func (*entryResource) Schema(_ context.Context, _ resource.SchemaRequest, out *resource.SchemaResponse) {
	out.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":       schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"name":     schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
		"value":    schema.StringAttribute{Required: true},
		"revision": schema.Int64Attribute{Computed: true},
		"parts":    schema.Int64Attribute{Optional: true},
		"pause":    schema.StringAttribute{Optional: true},
		"mangle":   schema.BoolAttribute{Optional: true},
	}}
}

// Configure implements resource.ResourceWithConfigure.
func (r *entryResource) Configure(_ context.Context, in resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.client, _ = in.ProviderData.(*client)
}

func (m entryModel) pace() (int64, time.Duration, error) {
	pause := time.Duration(0)
	if text := m.Pause.ValueString(); text != "" {
		var err error
		if pause, err = time.ParseDuration(text); err != nil {
			return 0, 0, err
		}
	}
	return max(1, m.Parts.ValueInt64()), pause, nil
}

// Create implements resource.Resource.
func (r *entryResource) Create(ctx context.Context, in resource.CreateRequest, out *resource.CreateResponse) {
	var m entryModel
	if out.Diagnostics.Append(in.Plan.Get(ctx, &m)...); out.Diagnostics.HasError() {
		return
	}
	name := m.Name.ValueString()
	parts, pause, err := m.pace()
	if err == nil {
		_, err = r.client.create(ctx, name, m.Value.ValueString(), parts, pause)
	}
	if err != nil {
		out.Diagnostics.AddError("Error creating entry", err.Error())
		return
	}
	// A provider that knows its API would wait here. This one gives up, and forgets what it has made.
	e, err := r.client.get(ctx, name)
	if err != nil {
		out.Diagnostics.AddError("Error reading entry", fmt.Sprintf("couldn't find resource %q after it was created: %v", name, err))
		return
	}
	m.ID, m.Revision = types.StringValue(name), types.Int64Value(int64(e.Revision))
	if m.Mangle.ValueBool() {
		m.Value = types.StringValue(m.Value.ValueString() + " (mangled)")
	}
	out.Diagnostics.Append(out.State.Set(ctx, m)...)
}

// Read implements resource.Resource. With cached reads it never asks.
func (r *entryResource) Read(ctx context.Context, in resource.ReadRequest, out *resource.ReadResponse) {
	var m entryModel
	if out.Diagnostics.Append(in.State.Get(ctx, &m)...); out.Diagnostics.HasError() {
		return
	}
	imported := m.Name.IsNull()
	if r.client.cached && !imported {
		return
	}
	e, err := r.client.get(ctx, m.ID.ValueString())
	switch {
	case errors.Is(err, errGone):
		out.State.RemoveResource(ctx)
		return
	case err != nil:
		out.Diagnostics.AddError("Error reading entry", err.Error())
		return
	}
	m.Name, m.Value, m.Revision = types.StringValue(e.Name), types.StringValue(e.Value), types.Int64Value(int64(e.Revision))
	out.Diagnostics.Append(out.State.Set(ctx, m)...)
}

// Update implements resource.Resource.
func (r *entryResource) Update(ctx context.Context, in resource.UpdateRequest, out *resource.UpdateResponse) {
	var m entryModel
	if out.Diagnostics.Append(in.Plan.Get(ctx, &m)...); out.Diagnostics.HasError() {
		return
	}
	e, err := r.client.update(ctx, m.Name.ValueString(), m.Value.ValueString())
	if err != nil {
		out.Diagnostics.AddError("Error changing entry", err.Error())
		return
	}
	m.Revision = types.Int64Value(int64(e.Revision))
	out.Diagnostics.Append(out.State.Set(ctx, m)...)
}

// Delete implements resource.Resource.
func (r *entryResource) Delete(ctx context.Context, in resource.DeleteRequest, out *resource.DeleteResponse) {
	var m entryModel
	if out.Diagnostics.Append(in.State.Get(ctx, &m)...); out.Diagnostics.HasError() {
		return
	}
	parts, pause, err := m.pace()
	if err == nil {
		err = r.client.remove(ctx, m.Name.ValueString(), parts, pause)
	}
	if err != nil {
		out.Diagnostics.AddError("Error deleting entry", err.Error())
	}
}

// ImportState implements resource.ResourceWithImportState.
func (*entryResource) ImportState(ctx context.Context, in resource.ImportStateRequest, out *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), in, out)
}
