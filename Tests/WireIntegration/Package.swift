// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "WireIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Packages/AppCheck"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/Firestore"),
    .package(path: "../../Packages/Functions"),
    .package(path: "../../Packages/RemoteConfig"),
    .package(path: "../../Packages/Transport"),
    .package(path: "../../Interop/AppCheckBackend"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/FunctionsBackend"),
    .package(path: "../../Interop/RemoteConfigBackend"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .testTarget(
      name: "WireIntegrationTests",
      dependencies: [
        .product(name: "VestaAppCheckBackend", package: "AppCheckBackend"),
        .product(name: "VestaAppCheckBackendContracts", package: "AppCheckBackend"),
        .product(name: "VestaAppCheckService", package: "AppCheck"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaFirestoreWire", package: "Firestore"),
        .product(name: "VestaFunctions", package: "Functions"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaFunctionsBackendContracts", package: "FunctionsBackend"),
        .product(name: "VestaFunctionsEndpoints", package: "Functions"),
        .product(name: "VestaFunctionsRemote", package: "Functions"),
        .product(name: "VestaFunctionsService", package: "Functions"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaRemoteConfig", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigEndpoints", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigRemote", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigService", package: "RemoteConfig"),
        .product(name: "VestaRemoteConfigBackend", package: "RemoteConfigBackend"),
        .product(name: "VestaRemoteConfigBackendContracts", package: "RemoteConfigBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTransport", package: "Transport"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      resources: [.copy("firestore-oracle.py")],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
