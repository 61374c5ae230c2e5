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
  name: "AuthIntegration",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Packages/Auth"),
    .package(path: "../../Packages/Core"),
    .package(path: "../../Packages/Crypto"),
    .package(path: "../../Packages/SQLite"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/AuthBackend"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .testTarget(
      name: "AuthIntegrationTests",
      dependencies: [
        .product(name: "VestaAuth", package: "Auth"),
        .product(name: "VestaAuthEndpoints", package: "Auth"),
        .product(name: "VestaAuthRemote", package: "Auth"),
        .product(name: "VestaAuthService", package: "Auth"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaCrypto", package: "Crypto"),
        .product(name: "VestaSQLite", package: "SQLite"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaAuthBackend", package: "AuthBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaAuthBackendContracts", package: "AuthBackend"),
        .product(name: "VestaAuthBackendFakes", package: "AuthBackend"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    )
  ],
  swiftLanguageModes: [.v6]
)
