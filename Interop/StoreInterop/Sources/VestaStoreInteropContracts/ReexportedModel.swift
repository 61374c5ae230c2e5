// Histories compare a store with the model, and subjects take its clock: tests that run contracts see both.
@_exported public import VestaStoreInteropFakes
