public import ContractInterop
public import StoreInterop
